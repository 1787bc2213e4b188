import type { NormalEvent } from '../domain/events/event.ts';
import { eventStatuses, type EventStatusRow } from '../store/events/event-statuses.ts';
import type { Tx } from '../store/engine/tx.ts';
import type { Db } from '../store/schema/schema.ts';
import { behindEvent } from './event-causes.ts';
import { evaluateRules } from './evaluate-rules.ts';
import { type EvaluatedEvent, type ReactionDeps, RuleChanged, type Sender } from './types.ts';
import { decideAndRecord } from './decide-and-record.ts';

/** The common end of silences and mutes: an event, if something that they suppressed still fires. */

/** Most ends recorded by one call; others wait for the next. */
const ENDINGS_MAX = 100;
/** Events searched for a suppressed one; whether an older one still fires is unknown. */
const LOOK_BACK = 20_000;
/** Read at a time, so that no read holds up the others. */
const BATCH = 500;
/** Events of the service itself: the end of a mute or silence does not show whether the subject fires. */
const OWN_SOURCES: ReadonlySet<string> = new Set(['mute', 'silence']);

/** Something that suppresses for a limited time. */
export interface Hold<R> {
  /** The expired ones whose end was not recorded, the oldest end first; `now` in milliseconds by the store's clock. */
  due(db: Db, now: number, limit: number): Promise<R[]>;
  /** False if another daemon recorded its end. */
  noteEnd(tx: Tx, id: string): Promise<boolean>;
  /** No earlier event was suppressed; in milliseconds since the epoch. */
  since(row: R): number;
  /** Whether it suppressed something of this event. */
  isAbout(row: R, event: EventStatusRow): boolean;
  /** The event of its end, if the subject of `firing` still fires. */
  endingEvent(row: R, firing: EventStatusRow): NormalEvent;
  /**
   * Its creator is in the asking chain of the resulting jobs: no one may create an event by a mute of one second and
   * then approve its job.
   */
  senderOf(row: R): Sender;
}

/**
 * Records the ends that are due, each in a separate write with its event; returns their number. Several daemons may
 * call it at once: one of them records an end. Stops early when `signal` aborts.
 */
export async function noteEnds<R extends { readonly id: string }>(
  deps: ReactionDeps,
  hold: Hold<R>,
  signal?: AbortSignal,
): Promise<number> {
  const { store, clock } = deps;
  const now = await store.dialect.clock(store.db, clock.now());
  let ended = 0;
  for (const row of await hold.due(store.db, now, ENDINGS_MAX)) {
    if (signal?.aborted === true) break;
    await noteEnd(deps, hold, row);
    ended += 1;
  }
  return ended;
}

async function noteEnd<R extends { readonly id: string }>(deps: ReactionDeps, hold: Hold<R>, row: R): Promise<void> {
  const evaluated = await evaluateEnd(deps, hold, row);
  try {
    await deps.store.write(async (tx) => {
      if ((await hold.noteEnd(tx, row.id)) && evaluated !== null) await decideAndRecord(deps, tx, evaluated);
    });
  } catch (error) {
    // Its rule has just changed: the next call evaluates the new rule.
    if (!(error instanceof RuleChanged)) throw error;
  }
}

/** The event of an end now, with its rules tried, for `decideAndRecord`; null where nothing fires of what was held. */
export async function evaluateEnd<R>(deps: ReactionDeps, hold: Hold<R>, row: R): Promise<EvaluatedEvent | null> {
  const firing = await firstFiring(deps.store.db, hold.since(row), (event) => hold.isAbout(row, event));
  if (firing === null) return null;
  // What made it fire may be the work of another person than the one who held it (T84).
  const [own, behind] = [hold.senderOf(row), await behindEvent(deps.store.db, firing.id)];
  const owners = [...new Set([...own.owners, ...behind.owners])];
  const sender = { ...own, owners, followsFrom: behind.subjects };
  const [evaluated] = await evaluateRules(deps, [hold.endingEvent(row, firing)], sender);
  return evaluated ?? null;
}

/** The newest event that satisfies `isAbout`, of a subject whose newest event is firing; null without one. */
async function firstFiring(
  db: Db,
  since: number,
  isAbout: (event: EventStatusRow) => boolean,
): Promise<EventStatusRow | null> {
  const newest = new Map<string, string>();
  let before: string | null = null;
  for (let left = LOOK_BACK; left > 0; left -= BATCH) {
    const batch: EventStatusRow[] = await eventStatuses(db, before, BATCH);
    for (const event of batch) {
      if (event.status === null || OWN_SOURCES.has(event.source)) continue;
      const thing = JSON.stringify([event.source, event.name, event.fingerprint]);
      const status = newest.get(thing) ?? event.status;
      newest.set(thing, status);
      if (status === 'firing' && isAbout(event)) return event;
    }
    const last = batch.at(-1);
    if (last === undefined || batch.length < BATCH || last.received_at < since) return null;
    before = last.id;
  }
  return null;
}
