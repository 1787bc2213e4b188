import { endSilences } from '../../reaction/silence-endings.ts';
import { endMutes } from '../../reaction/mute-endings.ts';
import type { Loop } from '../core/loop.ts';
import { OUTCOMES_EVERY_MS, tellOutcomes, type OutcomeDeps } from './job-outcome-events.ts';
import type { Signals } from '../core/signals.ts';

/**
 * How often it is looked for mutes and silences that have ended, in milliseconds: nobody waits for that to the second.
 */
const ENDINGS_EVERY_MS = 2_000;

type StartLoop = (name: string, everyMs: number, sweepOnce: (signal: AbortSignal) => Promise<number | void>) => Loop;

/** What makes events inside of the service: ends of jobs, and of mutes and silences. */
export function startReactionLoops(deps: OutcomeDeps & { readonly signals: Signals }, loop: StartLoop): Loop[] {
  const outcomes = loop('outcomes', OUTCOMES_EVERY_MS, (signal) => tellOutcomes(deps, signal));
  for (const name of ['job:finished', 'job:rescued'] as const) deps.signals.on(name, () => outcomes.wake());
  const endings = loop('endings', ENDINGS_EVERY_MS, async (signal) => {
    await endMutes(deps.reaction, signal);
    await endSilences(deps.reaction, signal);
  });
  return [outcomes, endings];
}
