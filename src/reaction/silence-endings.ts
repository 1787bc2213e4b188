import { subjectOf } from '../domain/events/causes.ts';
import type { SilenceRow } from '../store/schema/schema.ts';
import { dueSilences, noteSilenceEnd } from '../store/rules/silences.ts';
import { type Hold, noteEnds } from './expiry.ts';
import type { ReactionDeps } from './types.ts';

const SILENCE: Hold<SilenceRow> = {
  due: dueSilences,
  noteEnd: noteSilenceEnd,
  since: ({ created_at: since }) => since,
  // The step of the trace that a silence stopped names it.
  isAbout: ({ id }, { trace }) => trace.includes(id),
  endingEvent: ({ id, rule, reason }, stopped) => ({
    source: 'silence',
    name: rule ?? stopped.rule ?? '',
    status: 'firing',
    severity: null,
    fingerprint: id,
    labels: { id },
    annotations: { reason },
  }),
  senderOf: ({ id, created_by: owner }) => ({
    principal: owner,
    owners: [owner],
    subjects: [subjectOf('silence', id)],
    via: 'cli',
    trigger: 'rule',
    depth: 0,
  }),
};

/** Records the end of expired silences, and makes an event of each that stopped something that still fires. */
export function endSilences(deps: ReactionDeps, signal?: AbortSignal): Promise<number> {
  return noteEnds(deps, SILENCE, signal);
}
