import { Failure } from '../../domain/failure.ts';
import { readData } from './connection/client.ts';
import { requireConfirmation } from './confirm.ts';
import { EXIT_INTERRUPTED, follow, jsonSink, textSink } from './follow/follow.ts';
import { type Session, show } from './connection/session.ts';
import { type OperationCall, operationVerb, TREE } from './syntax/tree.ts';

/** Carries out a verb that is a row of the operation table. Resolves to the exit code. */
export async function runOperation(session: Session, call: OperationCall): Promise<number> {
  const { flags, client, options } = session;
  await requireConfirmation(session, call);
  if (call.operation === 'approval.watch') return (await import('./follow/watch.ts')).watchApprovals(session, call);
  if (call.effect === 'stream') return tail(session);
  if (call.until === 'ended') return (await import('./follow/job-wait.ts')).jobWait(session);
  const fields = await fieldsOf(session, call);
  const called = await client.call(call, { ...fields, ...call.preset }, flags['idempotency-key']);
  if (flags['wait'] !== undefined)
    return (await import('./follow/run-wait.ts')).waitForRun(session, call, await readData(called));
  await show(session, called);
  if (call.operation === 'event.get') await showTrace(session);
  if (called.shape === 'none' && options.output === 'text') session.terminal.stderr.write('Done.\n');
  return 0;
}

/**
 * With the field that comes from a file or from standard input, where there is one: `--file` is a flag of those alone.
 */
async function fieldsOf(session: Session, { operation }: OperationCall): Promise<Session['fields']> {
  const fileField = session.verb.flags.find(
    ({ field, placeholder }) => placeholder === 'FILE' && field !== undefined && field in session.fields,
  )?.field;
  if (fileField !== undefined) return (await import('./syntax/value-input.ts')).withFile(session, fileField);
  if (!session.verb.flags.some(({ name, field }) => name === 'file' && field === undefined)) return session.fields;
  const { VALUE_INPUTS, withValue } = await import('./syntax/value-input.ts');
  const input = VALUE_INPUTS[operation];
  return input === undefined ? session.fields : withValue(session, input);
}

/** The steps that led there, for people who sit at the machine: a server has no route for them, and says so. */
async function showTrace(session: Session): Promise<void> {
  const { client, fields, options, terminal } = session;
  if (options.output !== 'text') return;
  const { call } = operationVerb(TREE, 'event trace');
  if (options.remote !== null) {
    if ('none' in call.http) terminal.stderr.write(`\n${call.http.none}\n`);
    return;
  }
  const traced = await client.call(call, fields);
  terminal.stdout.write('\n');
  await show(session, traced);
}

/** The stream of a job. Text mode tells how the job ended, but its exit code is not ours. */
async function tail(session: Session): Promise<number> {
  const { fields, options, verb } = session;
  if (verb.path !== 'job tail') throw new Failure('not_implemented', `svc ${verb.path} cannot be followed here.`);
  const sink = options.output === 'json' ? jsonSink(session) : textSink(session, 'own');
  // What is no number is still text here, and the schema refuses it.
  const end = await follow(session, String(fields['id']), (fields['since'] as number | undefined) ?? 0, sink);
  return end === null ? EXIT_INTERRUPTED : 0;
}
