import type { Environment } from '../../../config/settings/settings.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Context, TokenPlace } from './contexts.ts';
import type { GivenFlags } from '../syntax/arguments.ts';
import type { Output, Terminal } from '../terminal.ts';
import { UsageFailure } from '../syntax/usage.ts';

/** The global flags, combined with the environment. */
export interface Options {
  readonly output: Output;
  /** The base URL of the server to ask, without a slash at its end; null is the local data directory. */
  readonly remote: string | null;
  /** The context that `remote` comes from, if any. */
  readonly context?: Context;
  /** True when --remote itself was given, not only its environment twin. */
  readonly remoteByFlag: boolean;
  /** Whether a token may travel unencrypted to another machine without a warning. */
  readonly insecure: boolean;
  readonly noInput: boolean;
  readonly yes: boolean;
  readonly color: boolean;
}

const HINT = 'svc --help';

export function readOptions(flags: GivenFlags, { env, stdin, stdout }: Terminal): Options {
  const remote = given(flags['remote']) ?? given(env['SVC_REMOTE']);
  const noColor = flags['no-color'] !== undefined || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return {
    output: readOutput(flags, env),
    remote: remote === undefined ? null : baseUrl(remote, '--remote'),
    remoteByFlag: flags['remote'] !== undefined,
    insecure: isSet('insecure', flags, env),
    // Without a terminal on standard input no one can answer.
    noInput: isSet('no-input', flags, env) || stdin.isTTY !== true,
    yes: isSet('yes', flags, env),
    color: !noColor && stdout.isTTY === true,
  };
}

function readOutput(flags: GivenFlags, env: Environment): Output {
  const text = flags['output'] ?? given(env['SVC_OUTPUT']) ?? 'text';
  if (text === 'text' || text === 'json') return text;
  const name = flags['output'] === undefined ? 'SVC_OUTPUT' : '--output';
  throw new UsageFailure(`${name}: expected text or json, not ${JSON.stringify(text)}.`, HINT);
}

/**
 * The output format for an error in the command line itself: JSON if a word of it seems to ask for JSON.
 * Never throws.
 */
export function guessOutput(argv: readonly string[], env: Environment): Output {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const joined = words.findLast((word) => word.startsWith('--output='))?.slice('--output='.length);
  const at = words.lastIndexOf('--output');
  return (joined ?? (at < 0 ? env['SVC_OUTPUT'] : words[at + 1])) === 'json' ? 'json' : 'text';
}

const SWITCHES = { yes: 'SVC_YES', insecure: 'SVC_INSECURE', 'no-input': 'SVC_NO_INPUT' } as const;

function isSet(name: keyof typeof SWITCHES, flags: GivenFlags, env: Environment): boolean {
  if (flags[name] !== undefined) return true;
  const twin = SWITCHES[name];
  const text = env[twin] ?? '';
  if (['1', 'true'].includes(text)) return true;
  if (['', '0', 'false'].includes(text)) return false;
  throw new UsageFailure(`${twin}: expected true or false.`, HINT);
}

function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** Without a slash at its end. Throws UsageFailure that names `flag`. */
export function baseUrl(text: string, flag: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageFailure(`${flag}: expected an http or https URL.`, HINT);
  if (url.username !== '' || url.password !== '')
    throw new UsageFailure(`${flag}: the URL must not carry credentials; use --token-file.`, HINT);
  if (url.search !== '' || url.hash !== '')
    throw new UsageFailure(`${flag}: the URL must not carry a query or a fragment.`, HINT);
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** The characters of a header value: a token has no space and no control character. */
const TOKEN = /^[\x21-\x7e]+$/;
/** A token has 81 characters; a file of this size is not a token file. */
const TOKEN_BYTES_MAX = 4_096;

/**
 * The token for a remote call: from --token-file, else as the context says, else from SVC_TOKEN_FILE or SVC_TOKEN. The
 * variables may hold the token of another server, so one that a context names does not get it.
 */
export async function readToken(flags: GivenFlags, terminal: Terminal, context?: Context): Promise<string> {
  const { env } = terminal;
  const byFlag = given(flags['token-file']);
  if (byFlag !== undefined) return readTokenAt({ file: byFlag }, terminal, '--token-file');
  if (context !== undefined) return readTokenAt(context.token, terminal, `context ${context.name}`);
  const file = given(env['SVC_TOKEN_FILE']);
  if (file !== undefined) return readTokenAt({ file }, terminal, 'SVC_TOKEN_FILE');
  if (given(env['SVC_TOKEN']) === undefined) {
    throw new Failure(
      'unauthenticated',
      'A remote call needs a token: give --token-file, or set SVC_TOKEN_FILE or SVC_TOKEN.',
    );
  }
  return readTokenAt({ variable: 'SVC_TOKEN' }, terminal, 'SVC_TOKEN');
}

/** Throws UsageFailure that names `from`. */
export async function readTokenAt(
  place: TokenPlace,
  terminal: Pick<Terminal, 'env' | 'stdin' | 'stderr'>,
  from: string,
): Promise<string> {
  const text = 'file' in place ? await readSecret(place.file, from, terminal) : terminal.env[place.variable];
  if (text === undefined || text === '')
    throw new UsageFailure(`${from}: ${'file' in place ? 'the file is empty' : 'the variable is not set'}.`, HINT);
  const token = text.trim();
  if (!TOKEN.test(token)) throw new UsageFailure(`${from}: the value is not a token.`, HINT);
  return token;
}

async function readSecret(
  file: string,
  name: string,
  { stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>,
): Promise<string> {
  const { createReadStream } = await import('node:fs');
  let text = '';
  try {
    if (file !== '-') (await import('../syntax/open-files.ts')).warnOfReaders(file, name, { stderr });
    for await (const chunk of file === '-' ? stdin : createReadStream(file)) {
      text += String(chunk);
      if (text.length > TOKEN_BYTES_MAX) break;
    }
  } catch (error) {
    const { readFault } = await import('../syntax/read-fault.ts');
    throw new UsageFailure(`${name}: ${readFault(file, error)}.`, HINT);
  }
  return text;
}
