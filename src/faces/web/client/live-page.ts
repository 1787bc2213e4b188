/** The page as it is now, looked at again and again while somebody can see it. */
import { ApprovalNews } from './approvals.ts';
import { LogTail } from './log/log-tail.ts';
import { change } from './morph.ts';
import { NewRows } from './new-rows.ts';
import { isFault, SIGNED_OUT } from './stream.ts';
import { localise } from './times.ts';
import { parsed } from './trusted.ts';

/** Between two looks, in milliseconds: where something runs, and elsewhere. */
const BUSY_MS = 2_000;
const IDLE_MS = 10_000;
/** After a failed look, doubled with each up to the last. */
const RETRY_MS = 4_000;
const RETRY_MAX_MS = 60_000;
/** Between two looks that events ask for. */
const SOON_MS = 250;

export class LivePage {
  readonly #line: HTMLElement;
  readonly #button: HTMLButtonElement;
  readonly #tail: LogTail | null;
  readonly #news: ApprovalNews;
  readonly #rows = new NewRows(() => this.look());
  #isPaused = false;
  #isSignedOut = false;
  #failures = 0;
  #timer = 0;
  #isLooking = false;
  #isDue = false;

  constructor(line: HTMLElement, button: HTMLButtonElement) {
    this.#line = line;
    this.#button = button;
    const section = document.querySelector<HTMLElement>('#log');
    const box = section?.querySelector<HTMLElement>('.log');
    this.#tail = section && box ? new LogTail(section, box, () => this.look()) : null;
    this.#news = new ApprovalNews(() => this.look());
  }

  start(): void {
    this.#button.hidden = false;
    this.#button.addEventListener('click', () => this.toggle());
    document.addEventListener('visibilitychange', () => this.#resume());
    // The first part of a log may be one of many.
    this.#plan(this.#tail === null ? this.#restMs() : SOON_MS);
    this.#tail?.run();
    this.#news.run();
    this.#sayLive();
  }

  toggle(): void {
    if (this.#isSignedOut) return;
    this.#isPaused = !this.#isPaused;
    this.#button.textContent = this.#isPaused ? 'Continue' : 'Pause';
    if (this.#isPaused) {
      this.#say('Paused');
      this.#news.rest();
    } else {
      this.#sayLive();
      this.#news.run();
    }
    this.#resume();
  }

  /** Soon, once for all that ask until then. */
  look(): void {
    if (this.#isLooking) this.#isDue = true;
    else this.#plan(SOON_MS);
  }

  /** A page that no one sees makes no request, and holds no stream of a log. */
  #resume(): void {
    const rests = this.#isPaused || this.#isSignedOut || document.hidden;
    this.#plan(rests ? null : 0);
    if (rests) this.#tail?.rest(this.#isSignedOut ? SIGNED_OUT : 'Paused');
    else this.#tail?.run();
  }

  /** Null: no look until something asks for one. */
  #plan(ms: number | null): void {
    clearTimeout(this.#timer);
    if (ms !== null && !this.#isPaused && !this.#isSignedOut)
      this.#timer = window.setTimeout(() => void this.#look(), ms);
  }

  #restMs(): number {
    return document.querySelector('#page [data-busy]') === null || this.#tail?.isLive === true ? IDLE_MS : BUSY_MS;
  }

  async #look(): Promise<void> {
    if (this.#isLooking || document.hidden) return;
    this.#isLooking = true;
    this.#isDue = false;
    let restMs = 0;
    try {
      const response = await fetch(location.pathname + (this.#tail?.query ?? location.search));
      if (response.status === 401) return this.#end();
      if (!response.ok) throw new TypeError(String(response.status));
      const text = await response.text();
      if (this.#isPaused) return;
      this.#show(parsed(text));
      this.#failures = 0;
      this.#sayLive();
      restMs = this.#restMs();
    } catch (error) {
      if (isFault(error)) console.error(error);
      restMs = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** this.#failures);
      this.#failures += 1;
      const since = document.querySelector('footer time')?.textContent ?? 'then';
      this.#say(`Offline: the page is as of ${since}; next try in ${Math.round(restMs / 1_000)}s`);
    } finally {
      this.#isLooking = false;
      if (restMs > 0) this.#plan(this.#isDue && this.#failures === 0 ? SOON_MS : restMs);
    }
  }

  #show(fresh: Document): void {
    this.#isDue = false;
    this.#tail?.take(fresh);
    this.#rows.hold(fresh);
    for (const selector of ['#page', 'nav', 'footer']) {
      const [before, after] = [document.querySelector(selector), fresh.querySelector(selector)];
      if (before !== null && after !== null) {
        change(before, after);
        localise(before);
      }
    }
    document.title = fresh.title;
    this.#news.shown(fresh);
  }

  #end(): void {
    this.#isSignedOut = true;
    this.#say(SIGNED_OUT);
    this.#news.rest();
    this.#resume();
  }

  #sayLive(): void {
    if (this.#isPaused || this.#isSignedOut) return;
    const seconds = this.#restMs() / 1_000;
    this.#say(this.#news.isFull ? `Every ${seconds}s (stream limit reached)` : 'Live');
  }

  #say(text: string): void {
    if (this.#line.textContent !== text) this.#line.textContent = text;
  }
}
