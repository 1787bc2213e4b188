/**
 * What waits for a decision, in all tabs of a browser by one stream: the tab that holds a lock reads it and tells the
 * others. When that tab closes or pauses, the browser gives the lock to the next. Over plain http from another machine
 * browsers have no locks; there the looks at the page bring the number.
 */
import { COUNT_MAX, pendingText } from '../../console/pending.ts';
import { pause, readStream } from './stream.ts';

const RETRY_MS = 5_000;
const NAME = `svc${document.documentElement.dataset['base'] ?? ''}`;

interface News {
  readonly count: number;
  /** What the newest one is about; null without one. */
  readonly newest: string | null;
  readonly isFull: boolean;
}

type Listed = readonly { readonly runbook: string; readonly summary: string }[];

export class ApprovalNews {
  readonly #look: () => void;
  readonly #channel = new BroadcastChannel(NAME);
  #stop: AbortController | null = null;
  #count = 0;
  /** By the stream: a look at the page may show the number first, and announces nothing. */
  #heard = 0;
  #isFull = false;

  constructor(look: () => void) {
    this.#look = look;
    this.#heard = this.#count = countOf(document);
    this.#channel.addEventListener('message', ({ data }) => this.#hear(data as News));
  }

  /** Whether the service has no place for the stream: what waits is then as old as the page. */
  get isFull(): boolean {
    return this.#isFull;
  }

  run(): void {
    if (this.#stop !== null || !('locks' in navigator)) return;
    const { signal } = (this.#stop = new AbortController());
    navigator.locks
      .request(NAME, { signal }, () => this.#lead(signal))
      .catch(() => {
        // Its place in the queue was given up.
      });
  }

  rest(): void {
    this.#stop?.abort();
    this.#stop = null;
  }

  /** The page was looked at, and its title and navigation are those of this answer. */
  shown(fresh: Document): void {
    this.#count = countOf(fresh);
    this.#drawIcon();
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const url = `${document.documentElement.dataset['base'] ?? ''}/api/v1/approvals/stream`;
    while (!signal.aborted) {
      const ending = await readStream(url, signal, {
        opened: () => undefined,
        take: ({ data }) => {
          const listed = JSON.parse(data) as Listed;
          const [newest] = listed;
          const about = newest === undefined ? null : `${newest.runbook}: ${newest.summary}`;
          this.#tell({ count: listed.length, newest: about, isFull: false });
        },
      });
      if (ending.is === 'signed out' || ending.is === 'refused') return;
      if (ending.is === 'full') this.#tell({ count: this.#count, newest: null, isFull: true });
      await pause(ending.is === 'full' ? ending.waitMs : RETRY_MS, signal);
    }
  }

  #tell(news: News): void {
    this.#channel.postMessage(news);
    this.#hear(news);
  }

  #hear({ count, newest, isFull }: News): void {
    if (isFull !== this.#isFull) this.#look();
    this.#isFull = isFull;
    const shown = Math.min(count, COUNT_MAX);
    if (shown > this.#heard && newest !== null) announce(`New approval: ${newest}`);
    this.#heard = shown;
    if (shown === this.#count) return;
    this.#count = shown;
    const text = pendingText(count);
    document.title = (text === '' ? '' : `(${text}) `) + document.title.replace(/^\(\d+\+?\) /, '');
    this.#drawIcon();
    this.#look();
  }

  #drawIcon(): void {
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    const path = icon?.dataset[this.#count === 0 ? 'idle' : 'waits'];
    if (icon !== null && path !== undefined && icon.getAttribute('href') !== path) icon.href = path;
  }
}

function countOf(page: Document): number {
  return Number(/^\((\d+)\+?\) /.exec(page.title)?.[1] ?? 0);
}

function announce(text: string): void {
  const place = document.querySelector('#news');
  if (place !== null) place.textContent = text;
}
