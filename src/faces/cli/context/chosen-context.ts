import type { GivenFlags } from '../syntax/arguments.ts';
import type { Options } from './options.ts';
import type { Terminal } from '../terminal.ts';
import { UsageFailure } from '../syntax/usage.ts';
import { type Context, currentName, fileOf, LOCAL, placeOf, readContext } from './contexts.ts';

const HINT = 'svc help flags';
/** Flags, and their variables, that name a place: each wins over the context in use. */
const PLACES = ['remote', 'data-dir', 'database-url'] as const;
const PLACE_VARIABLES = PLACES.map((name) => `SVC_${name.toUpperCase().replace('-', '_')}`);

/**
 * The options with the server of the context: that of `--context`, else of SVC_CONTEXT, else the one in use, unless
 * another flag or variable names a place. Throws Failure; UsageFailure where two places are named.
 */
export async function withContext(options: Options, flags: GivenFlags, terminal: Terminal): Promise<Options> {
  const context = await chosenContext(flags, terminal.env);
  if (context === null) return options;
  if (context === LOCAL) return { ...options, remote: null };
  const place = placeOf(terminal.env);
  if (place !== null) (await import('../syntax/open-files.ts')).warnOfWriters(fileOf(place, context.name), terminal);
  return { ...options, remote: context.url, context };
}

async function chosenContext(flags: GivenFlags, env: Terminal['env']): Promise<Context | typeof LOCAL | null> {
  const byFlag = flags['context'];
  const flagged = PLACES.find((name) => flags[name] !== undefined);
  if (byFlag !== undefined) {
    if (flagged !== undefined && (flagged === 'remote' || byFlag !== LOCAL))
      throw new UsageFailure(`--context, --${flagged}: give one of them.`, HINT);
    return byFlag === LOCAL ? LOCAL : readContext(env, byFlag);
  }
  if (flagged !== undefined) return null;
  const byVariable = env['SVC_CONTEXT'] ?? '';
  const variable = placeVariable(env);
  if (byVariable === LOCAL) return LOCAL;
  if (byVariable !== '') {
    if (variable !== undefined) throw new UsageFailure(`SVC_CONTEXT, ${variable}: set one of them.`, HINT);
    return readContext(env, byVariable);
  }
  const name = variable === undefined ? await currentName(env) : null;
  return name === null ? null : readContext(env, name);
}

/** The variable that names a place, which wins over the context in use; undefined without one. */
export function placeVariable(env: Terminal['env']): string | undefined {
  return PLACE_VARIABLES.find((name) => (env[name] ?? '') !== '');
}
