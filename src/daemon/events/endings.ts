import { endMutes } from '../../reaction/mute-endings.ts';
import { endSilences } from '../../reaction/silence-endings.ts';
import type { ReactionDeps } from '../../reaction/types.ts';
import type { LoopRow } from '../core/loop.ts';

/** Interval of the search for mutes and silences that have ended, in milliseconds: the exact second does not matter. */
const ENDINGS_EVERY_MS = 2_000;

export const endingsLoop: LoopRow<{ readonly reaction: ReactionDeps }> = {
  name: 'endings',
  everyMs: ENDINGS_EVERY_MS,
  wakeOn: [],
  once: async ({ reaction }, signal) => {
    const mutes = await endMutes(reaction, signal);
    return { did: { mutes_ended: mutes, silences_ended: await endSilences(reaction, signal) } };
  },
};
