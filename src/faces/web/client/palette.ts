/** Everything that one can go to from a page, found by typing: its links, those of the sections, and any id. */
import { make } from './trusted.ts';

const SHOWN_MAX = 12;
const KEYS = 'g and a letter: a section · / filter · j, k rows · p pause';

interface Place {
  readonly text: string;
  readonly href: string;
}

export class Palette {
  readonly #input = make('input', { type: 'search', ariaLabel: 'Go to', placeholder: 'Page, link or id' });
  readonly #list = make('ul');
  readonly #dialog = make(
    'dialog',
    { id: 'palette', ariaLabel: 'Go to' },
    make('form', { method: 'dialog' }, this.#input),
    this.#list,
    make('p', { className: 'soft' }, KEYS),
  );
  #places: readonly Place[] = [];

  constructor() {
    document.body.append(this.#dialog);
    this.#input.addEventListener('input', () => this.#show());
    this.#dialog.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#list.querySelector('a')?.click();
    });
    this.#dialog.addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
      event.preventDefault();
      this.#move(event.key === 'ArrowDown' ? 1 : -1);
    });
    const opener = document.querySelector<HTMLButtonElement>('#find');
    if (opener !== null) opener.hidden = false;
    opener?.addEventListener('click', () => this.open());
  }

  open(): void {
    if (this.#dialog.open) return;
    const places = [...document.querySelectorAll<HTMLAnchorElement>('nav a[href], #page a[href]')].map(
      ({ textContent: text, href }) => ({ text: text.trim(), href }),
    );
    const named = places.filter(({ text }) => text !== '');
    // Of two links to one place the first has the name of its section.
    this.#places = named.filter(({ href }, at) => named.findIndex((other) => other.href === href) === at);
    this.#input.value = '';
    this.#show();
    this.#dialog.showModal();
  }

  #show(): void {
    const words = this.#input.value.toLowerCase().split(/\s+/);
    const found = this.#places.filter(({ text, href }) =>
      words.every((word) => `${text} ${href}`.toLowerCase().includes(word)),
    );
    const shown = [...placesOfId(this.#input.value.trim()), ...found].slice(0, SHOWN_MAX);
    this.#list.replaceChildren(...shown.map(({ text, href }) => make('li', {}, make('a', { href }, text))));
    if (shown.length === 0) this.#list.append(make('li', { className: 'soft' }, 'Nothing on this page matches.'));
  }

  #move(by: number): void {
    const all: readonly HTMLElement[] = [this.#input, ...this.#list.querySelectorAll('a')];
    const at = all.findIndex((each) => each === document.activeElement);
    all[(at + by + all.length) % all.length]?.focus();
  }
}

/** The page of an id, by its prefix; the service says which prefixes have one: `job=/jobs/ apr=/approvals/`. */
function placesOfId(text: string): Place[] {
  const { base = '', ids = '' } = document.documentElement.dataset;
  if (!/^[a-z]{3}_[0-9a-z]{26}$/.test(text)) return [];
  const pairs = ids.split(' ').map((pair) => pair.split('='));
  const path = pairs.find(([prefix]) => prefix === text.slice(0, 3))?.[1];
  return path === undefined ? [] : [{ text: `Open ${text}`, href: base + path + text }];
}
