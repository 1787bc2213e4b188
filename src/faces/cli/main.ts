import { asFailure, Failure, type FailureCode, failureRow } from '../../domain/failure.ts';
import { MissingFailure, readArguments, type Request } from './syntax/arguments.ts';
import { exitCodeOf, SentFailure } from './connection/client.ts';
import { withContext } from './context/chosen-context.ts';
import { guessOutput, type Options, readOptions } from './context/options.ts';
import { noRoute, requireRoute } from './connection/remote-request.ts';
import { openClient } from './connection/open-client.ts';
import { type Output, sizeOf, type Terminal, write } from './terminal.ts';
import { TREE } from './syntax/tree.ts';
import { UsageFailure } from './syntax/usage.ts';

/** Executes one command line. Resolves to the exit code, after every error was reported. Never throws. */
export async function main(terminal: Terminal): Promise<number> {
  let output = guessOutput(terminal.argv, terminal.env);
  let request: Request | null = null;
  try {
    request = await readRequest(terminal);
    if (request.ask === 'help') return await showHelp(terminal, request.topic);
    const options = readOptions(request.flags, terminal);
    output = options.output;
    return await run(terminal, request, options);
  } catch (error) {
    return report(terminal, output, error, request);
  }
}

/** At a terminal, what the command line lacks is asked for. Throws UsageFailure. */
async function readRequest(terminal: Terminal): Promise<Request> {
  for (let argv = versionVerb(terminal.argv); ;) {
    try {
      return readArguments(TREE, argv);
    } catch (error) {
      if (!(error instanceof MissingFailure) || terminal.stdin.isTTY !== true) throw error;
      const more = await (await import('./live/missing.ts')).askMissing(terminal, argv, error);
      if (more === null) throw error;
      argv = more;
    }
  }
}

/** `svc --version` is what everybody tries first. */
function versionVerb(argv: readonly string[]): readonly string[] {
  return argv[0] === '--version' ? ['version', ...argv.slice(1)] : argv;
}

async function showHelp(terminal: Terminal, topic: string): Promise<number> {
  const { help } = await import('./help.ts');
  const { stdout } = terminal;
  await write(stdout, help(TREE, topic, stdout.isTTY === true ? sizeOf(stdout).width : null) ?? '');
  return 0;
}

async function run(
  terminal: Terminal,
  { verb, fields, flags }: Extract<Request, { ask: 'run' }>,
  given: Options,
): Promise<number> {
  const { call } = verb;
  if ('program' in call) {
    // Programs of this machine leave SVC_REMOTE alone, which may be set for all other verbs; --remote itself is meant.
    if (call.remote !== true && (given.remoteByFlag || flags['context'] !== undefined))
      throw noRoute(`svc ${verb.path}`);
    const options = call.remote === true ? await withContext(given, flags, terminal) : given;
    if (call.remote === true) await warnOfClearText(terminal, options);
    const session = { terminal, options, flags, verb, fields };
    return (await import('./run-program.ts')).runProgram(session, call.program);
  }
  const options = await withContext(given, flags, terminal);
  const session = { terminal, options, flags, verb, fields };
  if (options.remote !== null) requireRoute(verb, call, fields);
  await warnOfClearText(terminal, options);
  const client = await openClient(terminal, flags, options);
  try {
    return await (await import('./run-operation.ts')).runOperation({ ...session, client }, call);
  } finally {
    await client.close();
  }
}

/** Once for a command, however many requests it makes. */
async function warnOfClearText({ stderr }: Terminal, { remote, insecure }: Options): Promise<void> {
  if (insecure || remote?.startsWith('http:') !== true) return;
  const warning = (await import('./connection/clear-text.ts')).clearTextWarning(remote);
  if (warning !== null) await write(stderr, warning);
}

/** Reports a failure: its envelope on standard output in JSON mode, else message and hint on standard error. */
async function report(terminal: Terminal, output: Output, error: unknown, request: Request | null): Promise<number> {
  // A bug of the program: the stack is shown nowhere else.
  if (!(error instanceof Failure))
    terminal.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  const failure = asFailure(error);
  if (output === 'json') {
    const { encodeFailure } = await import('../../operations/core/envelope.ts');
    await write(terminal.stdout, failure instanceof SentFailure ? failure.body : encodeFailure(failure));
  } else {
    const [{ line }, { staleHint }] = await Promise.all([import('../text/safe.ts'), import('./stale-hint.ts')]);
    const hint = staleHint(failure, request, terminal.clock.now()) ?? hintOf(failure, request);
    const error = line(`Error: ${await messageOf(failure, request)}`);
    await write(terminal.stderr, hint === null ? error : error + line(`Hint: ${hint}`));
  }
  return exitCodeOf(failure);
}

/** For people the field is the flag that they typed; in JSON mode the bytes are those of every face. */
async function messageOf(failure: Failure, request: Request | null): Promise<string> {
  if (failure instanceof UsageFailure || request?.ask !== 'run') return failure.message;
  return (await import('./syntax/field-names.ts')).inWordsOf(request.verb, failure.message);
}

/** What a person at the prompt does about a code; null where the message says it all, and those of the API else. */
const HINTS: Readonly<Partial<Record<FailureCode, string | null>>> = {
  conflict: null,
  duplicate: null,
  invalid_argument: null,
  not_implemented: null,
  unauthenticated: 'Give a valid token with --token-file or SVC_TOKEN.',
  unavailable: null,
};

function hintOf(failure: Failure, request: Request | null): string | null {
  if (failure instanceof UsageFailure) return failure.peopleHint;
  const own = HINTS[failure.code];
  if (failure.code === 'invalid_argument' && request?.ask === 'run') return `svc ${request.verb.path} --help`;
  if (own !== undefined) return own;
  return failure instanceof SentFailure ? failure.hint : failureRow(failure.code).hint;
}
