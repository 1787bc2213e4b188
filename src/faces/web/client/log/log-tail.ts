/**
 * The log of a job as it grows. Lines come by the stream of the job and by each look at the page; they have numbers
 * without gaps, and only the next one is appended, so that none is lost or doubled, whatever the connection does.
 */
import type { JobEvent, PartialEvent } from '../../../../domain/jobs/job.ts';
import type { ServerEvent } from '../event-stream.ts';
import { LogView } from './log-view.ts';
import { pause, readStream, SIGNED_OUT } from '../stream.ts';

/** After a lost connection, doubled with each up to the last. */
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;

export class LogTail {
  readonly #view: LogView;
  readonly #look: () => void;
  #stream: string | null;
  #stop = new AbortController();
  #isLive = false;

  /** `look` looks at the page soon. */
  constructor(section: HTMLElement, box: HTMLElement, look: () => void) {
    this.#look = look;
    this.#stream = section.dataset['stream'] ?? null;
    this.#view = new LogView(section, box, this.#stream !== null);
    this.#stop.abort();
  }

  /** Whether lines come by the stream, and a look at the page has none to bring. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** The query of a look: what follows the newest line. */
  get query(): string {
    return `?since=${this.#view.last}`;
  }

  run(): void {
    if (this.#stream === null || !this.#stop.signal.aborted) return;
    this.#stop = new AbortController();
    void this.#follow(this.#stream, this.#stop.signal);
  }

  /** Paused or hidden: no stream is held. */
  rest(text: string): void {
    this.#stop.abort();
    this.#isLive = false;
    if (this.#stream !== null) this.#view.say(text);
  }

  /** Lines of a look at the page. Another look is due where they may go on, and the job has ended. */
  take(fresh: Document): void {
    const lines = [...fresh.querySelectorAll<HTMLElement>('#log .log [id]')];
    const taken = lines.filter((line) => this.#view.take(line)).length;
    const after = fresh.querySelector<HTMLElement>('#log');
    if (after === null) return;
    this.#stream = after.dataset['stream'] ?? null;
    if (this.#stream === null && taken > 0) this.#look();
  }

  async #follow(stream: string, signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const ending = await readStream(`${stream}?since=${this.#view.last}`, signal, {
        opened: () => {
          failures = 0;
          this.#isLive = true;
          this.#view.say('Live');
        },
        take: (event) => this.#take(event),
      });
      this.#isLive = false;
      if (signal.aborted || this.#stream === null) return;
      if (ending.is === 'signed out') return this.#view.say(SIGNED_OUT);
      if (ending.is === 'refused') return this.#view.say('The output can no longer be followed');
      const waitMs = ending.is === 'full' ? ending.waitMs : Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** failures);
      failures += 1;
      const seconds = Math.round(waitMs / 1_000);
      this.#view.say(
        ending.is === 'full'
          ? `Stream limit reached: lines come with each look at the page; next try in ${seconds}s`
          : `Connection lost: next try in ${seconds}s, from line ${this.#view.last}`,
      );
      this.#look();
      await pause(waitMs, signal);
    }
  }

  #take({ name, data }: ServerEvent): void {
    if (name === 'partial') return this.#view.open((JSON.parse(data) as PartialEvent).text);
    if (name === 'end') {
      const { state, exit_code: code } = JSON.parse(data) as { state: string; exit_code: number | null };
      this.#stream = null;
      this.#view.say(`The job ended: ${state}${code === null ? '' : `, exit code ${code}`}`);
    } else this.#view.append(JSON.parse(data) as JobEvent);
    if (name !== 'log') this.#look();
  }
}
