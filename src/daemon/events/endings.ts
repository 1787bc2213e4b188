import { endMutes } from '../../reaction/mute-endings.ts';
import { endSilences } from '../../reaction/silence-endings.ts';
import type { ReactionDeps } from '../../reaction/types.ts';
import { nextMuteEnd } from '../../store/rules/mutes.ts';
import { nextSilenceEnd } from '../../store/rules/silences.ts';
import type { MakeLoop } from '../core/loop.ts';

/** Interval of the search for mutes and silences that have ended, in milliseconds: the exact second does not matter. */
const ENDINGS_EVERY_MS = 2_000;

export const endingsLoop: MakeLoop<{ readonly reaction: ReactionDeps }> = ({ reaction }) => ({
  name: 'endings',
  everyMs: ENDINGS_EVERY_MS,
  wakeOn: [],
  restsWithoutCommits: true,
  async once(signal) {
    const mutes = await endMutes(reaction, signal);
    const did = { mutes_ended: mutes, silences_ended: await endSilences(reaction, signal) };
    const leftMs = await untilNextEnd(reaction);
    if (leftMs === null) return { did };
    // One that is left over has to wait for a rule that has just changed.
    return { did, dueMs: leftMs > 0 ? leftMs : ENDINGS_EVERY_MS };
  },
});

/** Milliseconds, not above 0 where it has come; null where nothing is muted or silenced. */
async function untilNextEnd({ store, clock }: ReactionDeps): Promise<number | null> {
  const ends = [await nextMuteEnd(store.db), await nextSilenceEnd(store.db)].filter((end) => end !== null);
  return ends.length === 0 ? null : Math.min(...ends) - (await store.dialect.clock(store.db, clock.now()));
}
