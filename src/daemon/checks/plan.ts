import { placeOf, slotsOf } from '../../domain/checks/sweep/slots.ts';
import { checksMark, listSweptChecks, sweptTargets, type SweptCheck } from '../../store/checks/sweep.ts';
import type { CheckTargetRow, Db } from '../../store/schema/schema.ts';
import { newTarget, orderOf, type SweepTarget } from './target.ts';

interface PlannedCheck {
  readonly check: SweptCheck;
  readonly targets: ReadonlyMap<string, SweepTarget>;
}

/** How a plan differs from the one before. */
interface PlanChange {
  readonly targets: readonly SweepTarget[];
  /** Targets that are not probed here any more. */
  readonly dropped: readonly SweepTarget[];
  /** Targets that were created while this daemon ran. */
  readonly fresh: ReadonlySet<SweepTarget>;
}

/**
 * The targets that this daemon probes, as the store has them. What is kept keeps its state in memory. A check that
 * cannot be read, because somebody wrote into the database, is reported once and left out.
 */
export class SweepPlan {
  readonly #db: Db;
  #checks: ReadonlyMap<string, PlannedCheck> = new Map();
  #shards: ReadonlySet<number> = new Set();
  #mark: string | null = null;
  #forgotten = new Set<SweepTarget>();
  #wasRead = false;
  readonly #onError: (error: unknown) => void;
  /** The checks that cannot be read, with the reason that was reported. */
  #unread = new Map<string, string>();

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db;
    this.#onError = onError;
  }

  /** The stored state of a target differs from the one in memory: the next `update` reads it. */
  forget(target: SweepTarget): void {
    this.#forgotten.add(target);
  }

  /** Reads what has changed; null where nothing has. */
  async update(shards: ReadonlySet<number>): Promise<PlanChange | null> {
    const mark = await checksMark(this.#db);
    const isMoved = shards.size !== this.#shards.size || shards.difference(this.#shards).size > 0;
    const forgotten = this.#forgotten;
    if (mark === this.#mark && !isMoved && forgotten.size === 0) return null;
    this.#forgotten = new Set();
    const outdated = new Set([...forgotten].map((target) => target.check));
    const fresh = new Set<SweepTarget>();
    const checks = new Map<string, PlannedCheck>();
    const unread = new Map<string, string>();
    for (const check of await listSweptChecks(this.#db)) {
      const before = this.#checks.get(check.name);
      const isKnown = before?.check.revision === check.revision && before.check.createdAt === check.createdAt;
      if (before !== undefined && isKnown && !isMoved && !outdated.has(check.name)) {
        checks.set(check.name, before);
        continue;
      }
      const isSame = before?.check.createdAt === check.createdAt;
      const kept = new Map(isSame ? [...before.targets].filter(([, target]) => !forgotten.has(target)) : []);
      const targets = new Map<string, SweepTarget>();
      let fault: unknown = null;
      for await (const rows of sweptTargets(this.#db, check.name)) {
        try {
          for (const target of this.#targetsOf(check, rows, kept, shards, fresh)) targets.set(target.name, target);
        } catch (error) {
          fault = error;
          break;
        }
      }
      if (fault === null) checks.set(check.name, { check, targets });
      else this.#leaveOut(check.name, fault, unread);
    }
    this.#unread = unread;
    const dropped = missingIn(this.#checks, checks);
    this.#checks = checks;
    this.#shards = new Set(shards);
    this.#mark = mark;
    this.#wasRead = true;
    return { targets: all(checks), dropped, fresh };
  }

  /** It is reported once, until its fault is another. */
  #leaveOut(name: string, fault: unknown, unread: Map<string, string>): void {
    unread.set(name, String(fault));
    if (this.#unread.get(name) !== String(fault))
      this.#onError(new Error(`the check ${name} cannot be read and is left out`, { cause: fault }));
  }

  #targetsOf(
    check: SweptCheck,
    rows: readonly CheckTargetRow[],
    kept: ReadonlyMap<string, SweepTarget>,
    shards: ReadonlySet<number>,
    fresh: Set<SweepTarget>,
  ): SweepTarget[] {
    const targets: SweepTarget[] = [];
    for (const row of rows) {
      const known = kept.get(row.name);
      const place = known?.place ?? placeOf(check.name, row.name);
      if (!shards.has(place.shard)) continue;
      const target = known ?? newTarget(check, row, place);
      if (known !== undefined) {
        const before = known.order.row;
        known.order = orderOf(check, row);
        // What was seen of another address does not count for this one.
        if (before.spec !== row.spec) known.state = { ...known.state, disagreeing: [] };
        if (known.slots.intervalMs !== check.intervalMs) known.slots = slotsOf(check.intervalMs, place);
      } else if (this.#wasRead && this.#shards.has(place.shard) && row.status === 'unknown') fresh.add(target);
      targets.push(target);
    }
    return targets;
  }
}

function all(checks: ReadonlyMap<string, PlannedCheck>): SweepTarget[] {
  return [...checks.values()].flatMap(({ targets }) => [...targets.values()]);
}

function missingIn(before: ReadonlyMap<string, PlannedCheck>, after: ReadonlyMap<string, PlannedCheck>): SweepTarget[] {
  const kept = new Set(all(after));
  return all(before).filter((target) => !kept.has(target));
}
