import type { NormalEvent } from '../domain/event.ts';
import { hostOf, mutes } from '../domain/mute.ts';
import { eventStatuses, type EventStatusRow } from '../store/event-statuses.ts';
import { endMute, expiredMutes } from '../store/mutes.ts';
import type { Db, MuteRow } from '../store/schema.ts';
import { consider, RuleChanged, settle, type Considered, type ReactionDeps, type Sender } from './receive.ts';

/** Mutes whose end one call notes; the rest waits for the next. */
const ENDINGS_MAX = 100;
/** Events that are looked through for one that the mute was about; of an older one nobody can say that it still fires. */
const LOOK_BACK = 20_000;
/** Read at a time, so that no read holds up the others: 500 rows are less than a millisecond on SQLite. */
const PAGE = 500;
/** Told by the service itself: that something is not held any more says nothing about whether it fires. */
const OWN_SOURCES: ReadonlySet<string> = new Set(['mute', 'silence']);

export interface MuteEndings {
  readonly ended: number;
  /** Events of source `mute` that were made: so many ended while the thing still fired. */
  readonly events: number;
}

/**
 * Notes the end of the mutes whose time has passed, each in a write of its own, and makes an event of source `mute` for
 * each whose thing still fires. Several daemons may call it at once: one of them notes an end. Stops early when
 * `signal` aborts.
 */
export async function endMutes(deps: ReactionDeps, signal?: AbortSignal): Promise<MuteEndings> {
  const { store, clock } = deps;
  let ended = 0;
  let events = 0;
  const now = await store.dialect.clock(store.db, clock.now());
  for (const mute of await expiredMutes(store.db, now, ENDINGS_MAX)) {
    if (signal?.aborted === true) break;
    const told = await endOne(deps, mute);
    if (told === null) continue;
    ended += 1;
    if (told) events += 1;
  }
  return { ended, events };
}

/** Whether there was something to tell; null where this end was not noted here. */
async function endOne(deps: ReactionDeps, mute: MuteRow): Promise<boolean | null> {
  const considered = await considerEnding(deps, mute);
  try {
    return await deps.store.write(async (tx) => {
      if (!(await endMute(tx, mute.id))) return null;
      if (considered !== null) await settle(deps, tx, considered);
      return considered !== null;
    });
  } catch (error) {
    // Its rule was changed in this moment: the next call tries the rule as it is then.
    if (error instanceof RuleChanged) return null;
    throw error;
  }
}

/** The event of a mute that ends now, with its rules tried, for `settle`; null where what it is about does not fire. */
export async function considerEnding(deps: ReactionDeps, mute: MuteRow): Promise<Considered | null> {
  if (!(await stillFires(deps.store.db, mute))) return null;
  const [considered] = await consider(deps, [endingEvent(mute)], senderOf(mute));
  return considered ?? null;
}

function endingEvent({ id, scope_kind: kind, scope_value: value, reason }: MuteRow): NormalEvent {
  return {
    source: 'mute',
    name: value ?? kind,
    status: 'firing',
    severity: null,
    fingerprint: id,
    labels: { id },
    annotations: { scope: kind, ...(reason === null ? {} : { reason }) },
  };
}

/** Who muted stands behind what the end leads to: nobody may make an event by a mute of a second and then approve its job. */
function senderOf({ created_by: owner, created_via: via }: MuteRow): Sender {
  return { principal: owner, owners: [owner], via, trigger: 'rule', depth: 0 };
}

/** Whether the newest event of any one thing that the mute is about says firing. */
async function stillFires(db: Db, { scope_kind: kind, scope_value: value }: MuteRow): Promise<boolean> {
  const settled = new Set<string>();
  let before: string | null = null;
  for (let left = LOOK_BACK; left > 0; left -= PAGE) {
    const page: EventStatusRow[] = await eventStatuses(db, before, PAGE);
    for (const event of page) {
      if (event.status === null || OWN_SOURCES.has(event.source)) continue;
      if (!mutes({ kind, value }, { eventName: event.name, host: kind === 'host' ? hostOfEvent(event) : null })) continue;
      const thing = JSON.stringify([event.source, event.name, event.fingerprint]);
      if (settled.has(thing)) continue;
      if (event.status === 'firing') return true;
      settled.add(thing);
    }
    if (page.length < PAGE) return false;
    before = page.at(-1)?.id ?? null;
  }
  return false;
}

function hostOfEvent({ labels }: EventStatusRow): string | null {
  return hostOf(JSON.parse(labels) as Record<string, string>);
}
