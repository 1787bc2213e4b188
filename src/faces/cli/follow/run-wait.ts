import type { JobWaitMode } from '../../../operations/core/cli-face.ts';
import type { Projected } from '../../../views/views.ts';
import { readData } from '../connection/client.ts';
import { type End, EXIT_INTERRUPTED, exitCodeOfJob, follow, textSink } from './follow.ts';
import { placeFlags, type Session, show, showData } from '../connection/session.ts';
import { line } from '../../text/safe.ts';
import { write } from '../terminal.ts';
import { operationVerb, TREE } from '../syntax/tree.ts';

/** The verb whose answer `--wait` shows in JSON mode once the job has ended. */
const ANSWER_VERBS: Readonly<Record<JobWaitMode, string>> = { job: 'job get', plan: 'job get', result: 'job result' };

/**
 * Follows the job that was queued and exits with its exit code. In text mode its output is ours; in JSON mode
 * standard output has one envelope, the result or the job; the output of the job is written to standard error.
 */
export async function waitForRun(
  session: Session,
  mode: JobWaitMode,
  queued: { kind: string; data: unknown; text: string },
): Promise<number> {
  const { terminal, options, client } = session;
  if (queued.kind !== 'job.enqueued') {
    // An approval is pending: the request was accepted, which is a success, and there is no job to follow yet.
    if (options.output === 'json') await write(terminal.stdout, queued.text);
    else await showData(session, queued);
    return 0;
  }
  const { job_id: id } = queued.data as { job_id: string };
  terminal.stderr.write(line(`Queued job ${id}.`));
  const sink = textSink(session, options.output === 'json' ? 'stderr' : 'own');
  const end = await follow(session, id, { since: 0, whenFull: 'poll', followed: true }, sink);
  if (end === null) return EXIT_INTERRUPTED;
  if (options.output === 'json') {
    await show(session, await client.call(operationVerb(TREE, ANSWER_VERBS[mode]).call, { id }));
  } else if (mode === 'plan') await showPlanCommands(session, id, end);
  return exitCodeOfJob(end);
}

/** The next commands after a plan. The plan itself is shown above, in the output of the job. */
async function showPlanCommands(session: Session, id: string, { state }: End): Promise<void> {
  if (state !== 'succeeded') return;
  const { data } = await readData(await session.client.call(operationVerb(TREE, 'job get').call, { id }));
  const { plan_artifact_id: plan, workspace } = data as Projected<'job.get'>;
  if (plan === null || plan === undefined) return;
  const place = placeFlags(session);
  session.terminal.stderr.write(
    line(`Saved as plan ${plan}. See it again: svc job tail ${id}${place}`) +
      line(`Apply it: svc workspace apply ${workspace ?? ''} --plan ${plan}${place}`),
  );
}
