import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../lib/clock.ts';
import type { HttpLimits } from '../limits.ts';

/** Written at a time: what the kernel has taken of one piece cannot be seen. */
const PIECE_BYTES = 65_536;

/** A whole answer, written as its client reads it. */
class Answer {
  readonly response: ServerResponse;
  readonly bytes: number;
  readonly #body: Buffer;
  #written = 0;
  #seen = 0;

  constructor(response: ServerResponse, body: Buffer) {
    this.response = response;
    this.bytes = body.length;
    this.#body = body;
  }

  write(): void {
    while (this.#written < this.bytes) {
      const piece = this.#body.subarray(this.#written, this.#written + PIECE_BYTES);
      this.#written += piece.length;
      if (this.response.write(piece)) continue;
      this.response.once('drain', () => this.write());
      return;
    }
    this.response.end();
  }

  /** Ends it if nothing was read since the last look. One that waits behind another ends with that one. */
  endStalled(): void {
    if (this.response.socket !== null && this.#written === this.#seen) this.response.destroy();
    this.#seen = this.#written;
  }
}

/** The answers of one token, webhook or peer, oldest first. */
interface Share {
  bytes: number;
  readonly answers: Set<Answer>;
}

/**
 * Whole answers stay in memory until their clients have read them. This bounds their bytes, and ends those that are
 * not read: one client that asked for outputs and read none of them took 4.7 GB in 42 s.
 */
export class UnreadAnswers {
  readonly #clock: Clock;
  readonly #limits: Pick<HttpLimits, 'drainMs' | 'unreadBytes'>;
  readonly #shares = new Map<string, Share>();
  #bytes = 0;
  #looks = false;

  constructor(clock: Clock, limits: Pick<HttpLimits, 'drainMs' | 'unreadBytes'>) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Writes the body and ends the answer. Above the bound the oldest of the largest share are cut off. */
  send(holder: string, response: ServerResponse, body: Buffer): void {
    const share = this.#shares.getOrInsertComputed(holder, () => ({ bytes: 0, answers: new Set() }));
    const answer = new Answer(response, body);
    share.answers.add(answer);
    share.bytes += answer.bytes;
    this.#bytes += answer.bytes;
    response.once('close', () => this.#remove(holder, share, answer));
    answer.write();
    while (this.#bytes > this.#limits.unreadBytes && this.#cutOldest());
    if (!this.#looks) this.#lookLater();
  }

  #remove(holder: string, share: Share, answer: Answer): void {
    if (!share.answers.delete(answer)) return;
    share.bytes -= answer.bytes;
    this.#bytes -= answer.bytes;
    if (share.answers.size === 0 && this.#shares.get(holder) === share) this.#shares.delete(holder);
  }

  /** False where only one is left. */
  #cutOldest(): boolean {
    let [most] = this.#shares;
    for (const each of this.#shares) if (each[1].bytes > (most?.[1].bytes ?? 0)) most = each;
    if (most === undefined) return false;
    const [holder, share] = most;
    const [oldest] = share.answers;
    if (oldest === undefined || share.answers.size === 1) return false;
    this.#remove(holder, share, oldest);
    oldest.response.destroy();
    return true;
  }

  #lookLater(): void {
    this.#looks = this.#shares.size > 0;
    if (!this.#looks) return;
    this.#clock.after(this.#limits.drainMs, () => {
      for (const { answers } of this.#shares.values()) for (const answer of answers) answer.endStalled();
      this.#lookLater();
    });
  }
}
