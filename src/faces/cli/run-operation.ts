import { Failure } from '../../domain/failure.ts';
import { JOB_ID_VARIABLE } from '../../domain/jobs/job.ts';
import type { FollowMode, PollMode, Remark, WaitMode } from '../../operations/core/cli-face.ts';
import type { Projected } from '../../views/views.ts';
import { type Answer, parseEnvelope, readData } from './connection/client.ts';
import { requireConfirmation } from './input/confirm.ts';
import { readDeadline } from './follow/polling.ts';
import { EXIT_INTERRUPTED, follow, jsonSink, textSink } from './follow/follow.ts';
import { type Session, show, showData, type Shown } from './connection/session.ts';
import { write } from './terminal.ts';
import { type OperationCall, operationVerb, TREE } from './syntax/tree.ts';
import { UsageFailure } from './syntax/usage.ts';

const FOLLOWERS: Readonly<Record<FollowMode, (session: Session, call: OperationCall) => Promise<number>>> = {
  job: tail,
  approvals: async (session, call) => (await import('./follow/watch.ts')).watchApprovals(session, call),
};

const POLLERS: Readonly<Record<PollMode, (session: Session, answered: Answer, deadline: number) => Promise<number>>> = {
  steps: async (...given) => (await import('./follow/steps-wait.ts')).waitForSteps(...given),
  restarted: async (...given) => (await import('./follow/restart-wait.ts')).waitForRestart(...given),
  safe: async (...given) => (await import('./follow/safe-wait.ts')).waitUntilSafe(...given),
};

const REMARKS: Readonly<Record<Remark, (session: Session, shown: Shown) => Promise<void>>> = {
  down: async (session, { text }) =>
    (await import('./remarks/down-targets.ts')).mentionDown(session, parseEnvelope(text).data),
  became: async (session, { text }) =>
    (await import('./remarks/became.ts')).sayBecame(session, parseEnvelope(text).data as Projected<'event.get'>),
  prober: async (session) => (await import('./remarks/probe-settings.ts')).mentionProber(session),
};

/** Carries out a verb that is a row of the operation table. Resolves to the exit code. */
export async function runOperation(asked: Session, call: OperationCall): Promise<number> {
  const { flags, client, options } = asked;
  const session = { ...asked, fields: { ...asked.fields, ...(await requireConfirmation(asked, call)) } };
  if (call.follow !== undefined) return FOLLOWERS[call.follow](session, call);
  if (call.until === 'ended') return (await import('./follow/job-wait.ts')).jobWait(session);
  // Checked before anything is started.
  if (call.wait === 'restarted' && flags['wait'] !== undefined) refuseInJob(asked);
  const deadline = isPolled(call.wait) ? deadlineOf(session) : Number.POSITIVE_INFINITY;
  const fields = await fieldsOf(session, call);
  if (call.waiting !== undefined && options.output === 'text')
    await (await import('./remarks/pending-approvals.ts')).mentionPending(session, String(fields['name']));
  if (call.first !== undefined) await showFirst(session, call.first);
  const followed = flags['wait'] !== undefined && call.follows === true ? { followed: true } : {};
  const given = { ...fields, ...call.preset, ...followed };
  const called = await client.call(call, given, { idempotencyKey: flags['idempotency-key'] });
  if (call.wait !== undefined && flags['wait'] !== undefined)
    return waitFor(session, call.wait, await readData(called), deadline);
  if (call.differs !== undefined) return showDifference(session, call.differs, await readData(called));
  const shown = await show(session, called);
  if (shown !== null) await (await import('./follow/lost-runs.ts')).mentionGone(session, shown);
  if (call.remark !== undefined && shown !== null) await REMARKS[call.remark](session, shown);
  if (call.next !== undefined) await showNext(session, call.next);
  if (called.shape === 'none' && options.output === 'text') session.terminal.stderr.write('Done.\n');
  return 0;
}

/** The exit code of an answer with differences, as of `diff`; 1 is for failures. */
const EXIT_DIFFERS = 2;

async function showDifference(session: Session, list: string, answered: Answer): Promise<number> {
  if (session.options.output === 'json') await write(session.terminal.stdout, answered.text);
  else await showData(session, answered);
  const { [list]: differences = [] } = answered.data as Readonly<Record<string, readonly unknown[]>>;
  return differences.length > 0 ? EXIT_DIFFERS : 0;
}

function deadlineOf({ flags, verb, terminal }: Session): number {
  const help = `svc ${verb.path} --help`;
  if (flags['timeout'] !== undefined && flags['wait'] === undefined)
    throw new UsageFailure('--timeout: expected only with --wait.', help);
  return readDeadline(flags['timeout'], terminal.clock, help);
}

async function waitFor(session: Session, mode: WaitMode, answered: Answer, deadline: number): Promise<number> {
  if (isPolled(mode)) return POLLERS[mode](session, answered, deadline);
  return (await import('./follow/run-wait.ts')).waitForRun(session, mode, answered);
}

function isPolled(mode: WaitMode | undefined): mode is PollMode {
  return mode !== undefined && Object.hasOwn(POLLERS, mode);
}

/** The restart waits until the job has ended, which would wait for the restart. */
function refuseInJob({ terminal }: Session): void {
  if ((terminal.env[JOB_ID_VARIABLE] ?? '') === '') return;
  throw new Failure('conflict', '--wait: a job cannot wait for a restart that waits for the job; leave it out.');
}

/** Adds the field that is read from a file or from standard input, if any. */
async function fieldsOf(session: Session, { stdin }: OperationCall): Promise<Session['fields']> {
  const fileField = session.verb.flags.find(
    ({ field, placeholder }) => placeholder === 'FILE' && field !== undefined && field in session.fields,
  )?.field;
  if (fileField !== undefined) return (await import('./input/value-input.ts')).withFile(session, fileField);
  if (stdin === undefined) return session.fields;
  return (await import('./input/value-input.ts')).withValue(session, stdin);
}

/** Nothing for a caller who may not read it, and from a server of an earlier build. */
async function showFirst(session: Session, path: string): Promise<void> {
  const { client, fields, options, terminal } = session;
  if (options.output !== 'text') return;
  try {
    await show(session, await client.call(operationVerb(TREE, path).call, fields));
    terminal.stdout.write('\n');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The answer itself says what is wrong with the thing; only what hides the words is said here.
    if (error.code === 'conflict') terminal.stderr.write(`${error.message}\n`);
  }
}

/** A second answer, which a server of an earlier build does not have. */
async function showNext(session: Session, path: string): Promise<void> {
  const { client, fields, options, terminal } = session;
  if (options.output !== 'text') return;
  try {
    const called = await client.call(operationVerb(TREE, path).call, fields);
    terminal.stdout.write('\n');
    await show(session, called);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'not_found' || options.remote === null) throw error;
  }
}

/** The stream of a job. Text mode shows how the job ended, but does not exit with its exit code. */
async function tail(session: Session): Promise<number> {
  const { fields, options } = session;
  const sink = options.output === 'json' ? jsonSink(session) : textSink(session, 'own');
  // Anything that is not a number is still text here, and the schema refuses it.
  const since = (fields['since'] as number | undefined) ?? 0;
  // A script learns that there was no place, and decides itself whether to wait.
  const whenFull = session.terminal.stdout.isTTY === true ? 'poll' : 'fail';
  const end = await follow(session, String(fields['id']), { since, whenFull }, sink);
  return end === null ? EXIT_INTERRUPTED : 0;
}
