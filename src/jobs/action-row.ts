import type { Tx } from '../store/engine/tx.ts';
import type { Queued, Queueing } from './queue.ts';

/** An action of a rule or a schedule that makes a job. Each kind has a row in `actions.ts`. */
export interface ActionRow<Fields> {
  /** The `runbook` of its jobs. */
  runbook(fields: Fields): string;
  /**
   * Checks that the named things exist; a value that is not `known` yet is left to the job. Throws not_found and
   * invalid_argument.
   */
  requireTargets(tx: Tx, fields: Fields, known: (text: string) => boolean): Promise<void>;
  /** Queues its job, or requests approval first if there is a gate. Throws a Failure if the job is refused. */
  queue(queueing: Queueing, order: Order<Fields>): Promise<QueuedSome>;
  /** Of one that makes many jobs: queues those behind where it stopped; says where it stops, null at the end. */
  readonly queueRest?: (queueing: Queueing, order: Order<Fields>, after: string) => Promise<string | null>;
}

type Order<Fields> = Fields & { readonly timeoutMs: number };

/** The first job of an action, and where it stopped if it makes more jobs than fit one write. */
export type QueuedSome = Queued & { readonly stoppedAt?: string | null };
