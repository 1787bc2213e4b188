import { Failure } from '../../domain/failure.ts';
import type { ReactionDeps } from '../../reaction/types.ts';
import { giveUpRunOutcome, recordRunOutcome } from '../../reaction/run-outcome.ts';
import { listRunsWithoutOutcome } from '../../store/workflows/run-outcomes.ts';
import type { Signals } from '../core/signals.ts';

interface RunOutcomeDeps {
  readonly reaction: ReactionDeps;
  readonly signals: Pick<Signals, 'emit'>;
}

/** Runs of one read. */
const BATCH = 50;

/** Creates the events of ended runs, each once however many daemons look. Throws where the store refuses writes. */
export async function recordRunOutcomes({ reaction, signals }: RunOutcomeDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const runs = await listRunsWithoutOutcome(reaction.store.db, BATCH);
    if (runs.length === 0) return;
    for (const run of runs) {
      try {
        await recordRunOutcome(reaction, run);
      } catch (error) {
        if (error instanceof Failure) throw error;
        signals.emit('loop:failed', { name: `outcome of ${run.id}`, error });
        await giveUpRunOutcome(reaction, run);
      }
    }
  }
}
