/**
 * The script of the console. Pages work without it; with it they show what is true now, and have keys. It is served as
 * it is, without its types, behind idiomorph, which it changes pages with.
 */

/** Of idiomorph: changes a node into another one and keeps what both have. */
declare const Idiomorph: {
  morph(
    before: Element,
    after: Element,
    options: {
      readonly morphStyle: 'outerHTML';
      readonly ignoreActiveValue: boolean;
      readonly callbacks: {
        readonly beforeAttributeUpdated: (name: string, node: Element) => boolean;
        readonly beforeNodeMorphed: (before: Node) => boolean;
      };
    },
  ): void;
};

/** As the platform has it; the types of TypeScript lack it. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): string };
}

/** Between two looks, in milliseconds: where something runs, and elsewhere. */
const BUSY_MS = 2_000;
const IDLE_MS = 10_000;
/** After a failed look, doubled with each up to the last. */
const RETRY_MS = 4_000;
const RETRY_MAX_MS = 60_000;
/** A page that is this close to its end follows it, in pixels. */
const NEAR_END = 80;

const KEYS: Readonly<Record<string, string>> = {
  o: 'Overview',
  a: 'Approvals',
  j: 'Jobs',
  e: 'Events',
  r: 'Rules',
  c: 'Checks',
  q: 'Quiet',
  s: 'Schedules',
  w: 'Workspaces',
  b: 'Backups',
  y: 'System',
};

const types = (window as unknown as { trustedTypes?: TrustedTypes }).trustedTypes;
/** Only pages of this server, which escapes every value in them, are made into nodes. */
const policy = types?.createPolicy('svc', { createHTML: (text) => text });

function parsed(text: string): Document {
  return new DOMParser().parseFromString(policy?.createHTML(text) ?? text, 'text/html');
}

/** The page as it is now, looked at again and again while somebody can see it. */
class LivePage {
  readonly #line: HTMLElement;
  readonly #button: HTMLButtonElement;
  #paused = false;
  #failures = 0;
  #timer = 0;
  #looking = false;

  constructor(line: HTMLElement, button: HTMLButtonElement) {
    this.#line = line;
    this.#button = button;
  }

  start(): void {
    this.#button.hidden = false;
    this.#button.addEventListener('click', () => this.toggle());
    document.addEventListener('visibilitychange', () => this.#plan(document.hidden ? null : 0));
    this.#plan(this.#restMs());
    this.#say('Live');
  }

  toggle(): void {
    this.#paused = !this.#paused;
    this.#button.textContent = this.#paused ? 'Continue' : 'Pause';
    this.#say(this.#paused ? 'Paused' : 'Live');
    this.#plan(this.#paused ? null : 0);
  }

  /** Null: no look until something asks for one. */
  #plan(ms: number | null): void {
    clearTimeout(this.#timer);
    if (ms !== null && !this.#paused) this.#timer = window.setTimeout(() => void this.#look(), ms);
  }

  #restMs(): number {
    return document.querySelector('[data-busy]') === null ? IDLE_MS : BUSY_MS;
  }

  async #look(): Promise<void> {
    if (this.#looking || document.hidden) return;
    this.#looking = true;
    try {
      const response = await fetch(location.pathname + location.search, { credentials: 'same-origin' });
      if (response.status === 401) return this.#end('Signed out: reload the page to sign in');
      if (!response.ok) throw new TypeError(String(response.status));
      this.#show(parsed(await response.text()));
      this.#failures = 0;
      this.#say('Live');
      this.#plan(this.#restMs());
    } catch (error) {
      // A failed request is shown on the page; anything else is a fault of this script.
      if (!(error instanceof TypeError)) console.error(error);
      const waitMs = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** this.#failures);
      this.#failures += 1;
      this.#say(`Offline: the page is older than it says; next try in ${Math.round(waitMs / 1000)} s`);
      this.#plan(waitMs);
    } finally {
      this.#looking = false;
    }
  }

  #show(fresh: Document): void {
    const root = document.documentElement;
    const follows = root.scrollHeight - root.scrollTop - root.clientHeight < NEAR_END && root.scrollTop > 0;
    for (const selector of ['main', 'nav', 'footer']) {
      const [before, after] = [document.querySelector(selector), fresh.querySelector(selector)];
      if (before !== null && after !== null) change(before, after);
    }
    document.title = fresh.title;
    if (follows) root.scrollTop = root.scrollHeight;
  }

  #end(text: string): void {
    this.#say(text);
    this.#paused = true;
  }

  #say(text: string): void {
    if (this.#line.textContent !== text) this.#line.textContent = text;
  }
}

/** What a person has opened, typed or works in stays. */
function change(before: Element, after: Element): void {
  Idiomorph.morph(before, after, {
    morphStyle: 'outerHTML',
    ignoreActiveValue: true,
    callbacks: {
      beforeAttributeUpdated: (name, node) => !(name === 'open' && node.tagName === 'DETAILS'),
      beforeNodeMorphed: (node) => !(node instanceof HTMLFormElement && isTouched(node)),
    },
  });
}

function isTouched(form: HTMLFormElement): boolean {
  if (form.contains(document.activeElement)) return true;
  return [...form.elements].some(
    (field) =>
      (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) && field.value !== field.defaultValue,
  );
}

/** `g` and a letter opens a section, `/` the first filter, `p` pauses. No key decides anything. */
function listenToKeys(page: LivePage | null): void {
  let afterG = false;
  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    const isTyping = target instanceof HTMLElement && target.closest('input, textarea, select') !== null;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const section = afterG ? KEYS[key] : undefined;
    afterG = key === 'g';
    if (section !== undefined) open(section);
    else if (key === 'p') page?.toggle();
    else if (key === '/') {
      event.preventDefault();
      document.querySelector<HTMLElement>('.filter input, .filter select')?.focus();
    }
  });
}

function open(section: string): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav[aria-label=Sections] a')];
  links.find((link) => link.textContent?.startsWith(section))?.click();
}

/** A form is sent once: a second press before the answer does nothing. */
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return;
  if (form.dataset['sent'] === 'yes') event.preventDefault();
  form.dataset['sent'] = 'yes';
});
// A page that the browser shows again from its memory can send its forms again.
window.addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset['sent'];
});

const line = document.querySelector<HTMLElement>('#live');
const button = document.querySelector<HTMLButtonElement>('#pause');
const page = line === null || button === null ? null : new LivePage(line, button);
page?.start();
listenToKeys(page);
