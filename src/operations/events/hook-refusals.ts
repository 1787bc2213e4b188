import { Failure, type FailureCode } from '../../domain/failure.ts';
import type { MessageRefusal } from '../../domain/events/message-refusal.ts';
import type { Store } from '../../store/store.ts';
import { addRefusals, type NewRefusal } from '../../store/events/webhook-refusals.ts';

/** A message that cannot be accepted: its sender gets 400, and the doctor counts it. */
export class MessageRefused extends Failure {
  readonly refusal: MessageRefusal;

  constructor(why: string, refusal: MessageRefusal) {
    super('invalid_argument', why);
    this.refusal = refusal;
  }
}

const REFUSAL_OF_CODE: Partial<Record<FailureCode, MessageRefusal>> = {
  unauthenticated: 'unsigned',
  conflict: 'repeated',
};

/** How the doctor counts a message that ended with this error; null for one that the sender sends again. */
export function refusalOf(error: unknown): MessageRefusal | null {
  if (error instanceof MessageRefused) return error.refusal;
  return error instanceof Failure ? (REFUSAL_OF_CODE[error.code] ?? null) : null;
}

/**
 * Counts refused messages in the store. Nothing waits for it: refusals during a write share the next one.
 */
export class RefusalNoter {
  readonly #store: Store;
  #noted = new Map<string, NewRefusal>();
  #writing = false;

  constructor(store: Store) {
    this.#store = store;
  }

  note(webhook: string, reason: MessageRefusal): void {
    const key = `${webhook} ${reason}`;
    this.#noted.set(key, { webhook, reason, count: (this.#noted.get(key)?.count ?? 0) + 1 });
    if (!this.#writing) void this.#write();
  }

  /** A count that the store does not take is lost: the next refusal must not wait for it. */
  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#noted.size > 0) {
      const rows = [...this.#noted.values()];
      this.#noted = new Map();
      await this.#store.write((tx) => addRefusals(tx, rows)).catch(() => undefined);
    }
    this.#writing = false;
  }
}
