import type { RunEnd } from '../../domain/workflows/workflow.ts';
import { pause } from '../../lib/clock.ts';
import type { Db } from '../../store/schema/schema.ts';
import { findStepOfJob, getRun } from '../../store/workflows/runs.ts';
import type { Services } from '../core/services.ts';

/** Between two looks at a run, in milliseconds: its steps may end one after the other in less. */
const LOOK_MS = 100;

/**
 * Where the job is a step of a workflow: waits until its run has ended, and answers how; `end` is null where `signal`
 * aborts first.
 */
export async function awaitRunOf(
  db: Db,
  { clock }: Pick<Services, 'clock'>,
  jobId: string,
  signal: AbortSignal,
): Promise<{ readonly isStep: boolean; readonly end: RunEnd | null }> {
  const step = await findStepOfJob(db, jobId);
  if (step === undefined) return { isStep: false, end: null };
  while (!signal.aborted) {
    const { state } = await getRun(db, step.run_id);
    if (state !== 'running') return { isStep: true, end: state };
    await pause(clock, LOOK_MS, signal);
  }
  return { isStep: true, end: null };
}
