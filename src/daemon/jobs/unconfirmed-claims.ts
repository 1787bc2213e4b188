import type { Clock } from '../../lib/clock.ts';
import type { JobRow } from '../../store/schema/schema.ts';

/** How long a commit may take before its claims count as lost, in milliseconds: longer than any write is retried. */
const CONFIRMED_WITHIN_MS = 30_000;

/**
 * The claims of transactions that have not been answered. If the disk or the connection breaks at a commit, the claim
 * may be in the store although its transaction was refused: the job then counts as running, and nothing runs it.
 */
export class UnconfirmedClaims {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #claims = new Map<string, { readonly row: JobRow; readonly since: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  add(rows: readonly JobRow[]): void {
    const since = this.#clock.monotonic();
    for (const row of rows) this.#claims.set(row.id, { row, since });
  }

  remove(rows: readonly Pick<JobRow, 'id'>[]): void {
    for (const { id } of rows) this.#claims.delete(id);
  }

  /** Whether this claim of a job still waits: a later claim of the same job is another one. */
  has(row: JobRow): boolean {
    return this.#claims.get(row.id)?.row === row;
  }

  /** Those whose commit should have been answered. */
  overdue(): JobRow[] {
    const before = this.#clock.monotonic() - CONFIRMED_WITHIN_MS;
    return [...this.#claims.values()].filter(({ since }) => since <= before).map(({ row }) => row);
  }
}
