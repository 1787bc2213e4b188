import type { ServerResponse } from 'node:http';

interface Answer {
  readonly response: ServerResponse;
  bytes: number;
}

/** The answers of one token, webhook or peer, oldest first. */
interface Share {
  bytes: number;
  readonly answers: Set<Answer>;
}

/**
 * Bounds the bytes of answers, and of parts of long ones, that stay in memory until their clients have read them: one
 * client that asked for outputs and read none of them took 4.7 GB in 42 s.
 */
export class UnreadAnswers {
  readonly #bytesMax: number;
  readonly #shares = new Map<string, Share>();
  #bytes = 0;
  #cut = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Answers that were cut off, since the beginning. */
  get cut(): number {
    return this.#cut;
  }

  /**
   * Counts an answer until it is closed; what is returned changes its bytes. Above the bound the oldest of the largest
   * share are cut off.
   */
  add(holder: string, response: ServerResponse, bytes: number): (bytes: number) => void {
    const share = this.#shares.getOrInsertComputed(holder, () => ({ bytes: 0, answers: new Set() }));
    const answer = { response, bytes: 0 };
    share.answers.add(answer);
    const hold = (now: number): void => {
      if (!share.answers.has(answer)) return;
      share.bytes += now - answer.bytes;
      this.#bytes += now - answer.bytes;
      answer.bytes = now;
      while (this.#bytes > this.#bytesMax && this.#cutOldest());
    };
    response.once('close', () => this.#remove(holder, share, answer));
    hold(bytes);
    return hold;
  }

  #remove(holder: string, share: Share, answer: Answer): void {
    if (!share.answers.delete(answer)) return;
    share.bytes -= answer.bytes;
    this.#bytes -= answer.bytes;
    if (share.answers.size === 0) this.#shares.delete(holder);
  }

  /** False where the largest share is one answer. */
  #cutOldest(): boolean {
    let [most] = this.#shares;
    for (const each of this.#shares) if (each[1].bytes > (most?.[1].bytes ?? 0)) most = each;
    if (most === undefined) return false;
    const [holder, share] = most;
    const [oldest] = share.answers;
    if (oldest === undefined || share.answers.size === 1) return false;
    this.#remove(holder, share, oldest);
    oldest.response.destroy();
    this.#cut += 1;
    return true;
  }
}
