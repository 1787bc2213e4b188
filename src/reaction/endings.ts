import type { NormalEvent } from '../domain/event.ts';
import type { Db, SilenceRow } from '../store/schema.ts';
import { dueSilences, noteSilenceEnd, type StoppedEventRow, tracedEvents } from '../store/silences.ts';
import { consider, type Considered, type ReactionDeps, RuleChanged, type Sender, settle } from './receive.ts';

/** Silences whose end one call notes; the rest waits for the next. */
const ENDINGS_MAX = 100;
/** Events that are looked through for one that the silence stopped; of an older one nobody can say that it still fires. */
const LOOK_BACK = 20_000;
/** Read at a time, so that no read holds up the others. */
const PAGE = 500;
/** Told by the service itself: that something is not held any more says nothing about whether it fires. */
const OWN_SOURCES: ReadonlySet<string> = new Set(['mute', 'silence']);

export interface SilenceEndings {
  readonly ended: number;
  /** Events of source `silence` that were made: so many ended while something that they stopped still fired. */
  readonly events: number;
}

/**
 * Notes the end of the silences whose time has passed, each in a write of its own, and makes an event of source
 * `silence` for each that stopped something that still fires. Several daemons may call it at once: one of them notes an
 * end. Stops early when `signal` aborts.
 */
export async function endSilences(deps: ReactionDeps, signal?: AbortSignal): Promise<SilenceEndings> {
  const { store, clock } = deps;
  let ended = 0;
  let events = 0;
  const now = await store.dialect.clock(store.db, clock.now());
  for (const silence of await dueSilences(store.db, now, ENDINGS_MAX)) {
    if (signal?.aborted === true) break;
    const told = await endOne(deps, silence);
    if (told === null) continue;
    ended += 1;
    if (told) events += 1;
  }
  return { ended, events };
}

/** Whether there was something to tell; null where this end was not noted here. */
async function endOne(deps: ReactionDeps, silence: SilenceRow): Promise<boolean | null> {
  const considered = await considerEnding(deps, silence);
  try {
    return await deps.store.write(async (tx) => {
      if (!(await noteSilenceEnd(tx, silence.id))) return null;
      if (considered !== null) await settle(deps, tx, considered);
      return considered !== null;
    });
  } catch (error) {
    // Its rule was changed in this moment: the next call tries the rule as it is then.
    if (error instanceof RuleChanged) return null;
    throw error;
  }
}

async function considerEnding(deps: ReactionDeps, silence: SilenceRow): Promise<Considered | null> {
  const stopped = await stillFiring(deps.store.db, silence);
  if (stopped === null) return null;
  const [considered] = await consider(deps, [endingEvent(silence, stopped)], senderOf(silence));
  return considered ?? null;
}

function endingEvent({ id, rule, reason }: SilenceRow, stopped: StoppedEventRow): NormalEvent {
  return { source: 'silence', name: rule ?? stopped.rule ?? '', status: 'firing', severity: null, fingerprint: id, labels: { id }, annotations: { reason } };
}

/** Who silenced stands behind what the end leads to: nobody may make an event by a silence of a second and then approve its job. */
function senderOf({ created_by: owner }: SilenceRow): Sender {
  return { principal: owner, owners: [owner], via: 'cli', trigger: 'rule', depth: 0 };
}

/** An event that the silence stopped, of a thing whose newest event says firing; the newest such, or null. */
async function stillFiring(db: Db, { id, created_at: since }: SilenceRow): Promise<StoppedEventRow | null> {
  const newest = new Map<string, string>();
  let before: string | null = null;
  for (let left = LOOK_BACK; left > 0; left -= PAGE) {
    const page: StoppedEventRow[] = await tracedEvents(db, before, PAGE);
    for (const event of page) {
      if (event.status === null || OWN_SOURCES.has(event.source)) continue;
      const thing = JSON.stringify([event.source, event.name, event.fingerprint]);
      const status = newest.get(thing) ?? event.status;
      newest.set(thing, status);
      // The step of the trace that a silence stopped names it.
      if (status === 'firing' && event.trace.includes(id)) return event;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE || last.received_at < since) return null;
    before = last.id;
  }
  return null;
}
