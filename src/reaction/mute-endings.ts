import { subjectOf } from '../domain/events/causes.ts';
import { hostOf, mutes } from '../domain/rules/mute.ts';
import { fromJson } from '../lib/json.ts';
import type { EventStatusRow } from '../store/events/event-statuses.ts';
import { endMute, expiredMutes } from '../store/rules/mutes.ts';
import type { MuteRow } from '../store/schema/schema.ts';
import { evaluateEnd, type Hold, noteEnds } from './expiry.ts';
import type { EvaluatedEvent, ReactionDeps } from './types.ts';

const MUTE: Hold<MuteRow> = {
  due: expiredMutes,
  noteEnd: endMute,
  // It also suppresses what began to fire before it was made.
  since: () => 0,
  isAbout: ({ scope_kind: kind, scope_value: value }, event) =>
    mutes({ kind, value }, { eventName: event.name, host: kind === 'host' ? hostOfEvent(event) : null }),
  endingEvent: ({ id, scope_kind: kind, scope_value: value, reason }) => ({
    source: 'mute',
    name: value ?? kind,
    status: 'firing',
    severity: null,
    fingerprint: id,
    labels: { id },
    annotations: { scope: kind, ...(reason === null ? {} : { reason }) },
  }),
  senderOf: ({ id, created_by: owner, created_via: via }) => ({
    principal: owner,
    owners: [owner],
    subjects: [subjectOf('mute', id)],
    via,
    trigger: 'rule',
    depth: 0,
  }),
};

function hostOfEvent({ labels }: EventStatusRow): string | null {
  return hostOf(fromJson(labels));
}

/** Notes the end of the mutes whose time has passed, and makes an event of each whose thing still fires. */
export function endMutes(deps: ReactionDeps, signal?: AbortSignal): Promise<number> {
  return noteEnds(deps, MUTE, signal);
}

/**
 * The event of a mute that ends now, with its rules tried, for `decideAndRecord`; null if its subject does not fire.
 */
export function evaluateEnding(deps: ReactionDeps, mute: MuteRow): Promise<EvaluatedEvent | null> {
  return evaluateEnd(deps, MUTE, mute);
}
