import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../views/views.ts';
import { line } from '../../text/safe.ts';
import { type Answer, readData } from '../connection/client.ts';
import { placeFlags, type Session, showData } from '../connection/session.ts';
import { operationVerb, TREE } from '../syntax/tree.ts';
import { write } from '../terminal.ts';
import { EXIT_INTERRUPTED, readJob } from './follow.ts';
import { pollUntil } from './polling.ts';
import { type Awaited, watchUnclaimed } from './unclaimed/watch-unclaimed.ts';

type Run = Projected<'workflow.status'>;

const OPEN: readonly Run['state'][] = ['running', 'awaiting_approval'];
const SUCCESSES: readonly Run['state'][] = ['succeeded', 'degraded'];

/**
 * Polls a run of a workflow until it has ended, and shows it. Each change of a step is a line on standard error.
 * Resolves to 0 if the run succeeded or is degraded, else to 1; on Ctrl-C the run continues. At the `deadline`, which
 * is on the monotonic clock, it throws `unavailable`.
 */
export async function waitForSteps(session: Session, answered: Answer, deadline: number): Promise<number> {
  const { terminal, options } = session;
  const detach = new AbortController();
  const restore = terminal.onInterrupt(() => detach.abort());
  const { run_id: id } = answered.data as Run;
  let last = answered.data as Run;
  const daemon = { failure: null as Failure | null };
  const unwatch = watchUnclaimed(
    session,
    awaitedRun(session, id, () => last),
    (failure) => {
      daemon.failure = failure;
      detach.abort();
    },
  );
  terminal.stderr.write(line(`Waiting for run ${id}.`));
  const shown = new Map<string, string>();
  let latest: Answer | null = answered;
  try {
    const polling = { clock: terminal.clock, deadline, signal: detach.signal };
    const end = await pollUntil(polling, async () => {
      const answer = latest ?? (await readStatus(session, id));
      latest = null;
      const run = answer.data as Run;
      last = run;
      const changed = await showChanges(session, run, shown);
      if (!OPEN.includes(run.state)) return { answer, run };
      if (terminal.clock.monotonic() >= deadline)
        throw new Failure('unavailable', `Run ${id} is still ${run.state}; it continues.`);
      return changed ? 'changed' : 'again';
    });
    if (daemon.failure !== null) throw daemon.failure;
    if (end === null) {
      const again = `svc workflow status ${id} --wait${placeFlags(session)}`;
      terminal.stderr.write(line(`\nDetached; run ${id} continues. Resume with: ${again}`));
      return EXIT_INTERRUPTED;
    }
    if (options.output === 'json') await write(terminal.stdout, end.answer.text);
    else await showData(session, end.answer);
    return SUCCESSES.includes(end.run.state) ? 0 : 1;
  } finally {
    unwatch();
    restore();
  }
}

/** A run some of whose steps wait for a daemon; `last` is what the last look saw of it. */
function awaitedRun(session: Session, id: string, last: () => Run): Awaited {
  const place = placeFlags(session);
  return {
    effect: `run ${id} does not continue`,
    advice: `Wait again: svc workflow status ${id} --wait${place}. Cancel it: svc workflow cancel ${id}${place}.`,
    busy: null,
    async needs() {
      const { steps } = last();
      const states = steps.map(({ state }) => state);
      // A cordon does not stop a running step.
      if (states.includes('running')) return [{ node: null, claims: false }];
      const jobs = steps.flatMap(({ state, job_id: job }) => (state === 'queued' && job !== null ? [job] : []));
      const queued = await Promise.all(jobs.map((job) => readJob(session.client, job)));
      if (queued.length > 0) return queued.map(({ node }) => ({ node, claims: true }));
      return states.includes('awaiting_approval') ? [] : [{ node: null, claims: false }];
    },
  };
}

async function readStatus({ client }: Session, id: string): Promise<Answer> {
  return readData(await client.call(operationVerb(TREE, 'workflow status').call, { run: id }));
}

/** Writes a line for each step that is not as it was shown; whether there was one. */
async function showChanges(session: Session, { steps }: Run, shown: Map<string, string>): Promise<boolean> {
  const { terminal } = session;
  let changed = false;
  for (const { name, state, job_id: jobId, reason } of steps) {
    if (state === 'waiting' || shown.get(name) === state) continue;
    shown.set(name, state);
    changed = true;
    const why = reason === undefined ? '' : `: ${reason}`;
    await write(terminal.stderr, line(`-- ${name} is ${state}${jobId === null ? '' : ` (${jobId})`}${why}`));
    if (state === 'awaiting_approval' && jobId !== null) await showDecision(session, jobId);
  }
  return changed;
}

/** How to decide the approval that a job waits for. One that was decided in the meantime is not shown. */
async function showDecision(session: Session, jobId: string): Promise<void> {
  const { data } = await readData(await session.client.call(operationVerb(TREE, 'approval list').call, {}));
  const found = (data as Projected<'approval.list'>).find((each) => each.job_id === jobId);
  if (found === undefined) return;
  await write(session.terminal.stderr, line(`   Decide with: svc approval approve ${found.id}${placeFlags(session)}`));
}
