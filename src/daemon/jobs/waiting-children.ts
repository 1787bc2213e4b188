import type { Launcher } from '../../runners/launch/launch.ts';
import type { Waiting } from '../../runners/launch/tool.ts';

/**
 * Processes for jobs that are being claimed. Each is started before the claim, and the transaction of the claim records
 * it as the leader of the job. A process without an order runs nothing. If a transaction is not committed, the next one
 * uses its processes again. Their number never exceeds the number of slots.
 */
export class WaitingChildren {
  readonly #launcher: Pick<Launcher, 'prepare'>;
  #children: Waiting[] = [];
  #used = 0;

  constructor(launcher: Pick<Launcher, 'prepare'>) {
    this.#launcher = launcher;
  }

  /** Begins a transaction: what an earlier one did not commit is free again. */
  begin(): void {
    this.#used = 0;
  }

  /** Another child; null where there is no process to be had. */
  next(): Waiting | null {
    while (this.#children[this.#used]?.isWaiting === false) this.#children.splice(this.#used, 1);
    const child = this.#children[this.#used] ?? this.#launcher.prepare();
    if (child !== null) this.#children[this.#used++] = child;
    return child;
  }

  /** The transaction is committed: its children belong to their jobs. */
  taken(): void {
    this.#children.splice(0, this.#used);
    this.#used = 0;
  }

  giveUp(): void {
    for (const child of this.#children.splice(0)) child.giveUp();
  }
}

/** Answers `value` at the first call and null after it. */
export function once<T>(value: T | null): () => T | null {
  let left = value;
  return () => {
    const answer = left;
    left = null;
    return answer;
  };
}
