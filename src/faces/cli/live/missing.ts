import type { Client } from '../connection/client.ts';
import { openClient } from '../connection/open-client.ts';
import { withContext } from '../context/chosen-context.ts';
import { askLine } from '../input/question.ts';
import type { MissingFailure } from '../syntax/arguments.ts';
import { readOptions } from '../context/options.ts';
import { kebab, TREE } from '../syntax/tree.ts';
import { UsageFailure } from '../syntax/usage.ts';
import { sizeOf, type Terminal } from '../terminal.ts';
import { cutLine } from '../terminal-text.ts';
import { line } from '../../text/safe.ts';
import { type LiveList, liveListOf, type LiveName, readNames } from './live-list.ts';

/** Choices that fit on a screen. */
const SHOWN_MAX = 15;

/**
 * Asks at a terminal for what a command line lacks, with the names that there are to choose from. Resolves with the
 * command line that has it; null where there is no one to ask, or no answer.
 */
export async function askMissing(
  terminal: Terminal,
  argv: readonly string[],
  missing: MissingFailure,
): Promise<string[] | null> {
  const { verb, named, flags } = missing;
  const options = readOptions(flags, terminal);
  if (options.noInput || options.output !== 'text' || 'rest' in named) return null;
  const live = liveListOf(TREE, verb, named);
  const choices = live === null ? null : await choicesOf(terminal, missing, live);
  if (choices?.length === 0)
    throw new UsageFailure(`svc ${verb.path}: there is nothing to choose from.`, `svc ${verb.path} --help`);
  const shown = (choices ?? []).slice(0, SHOWN_MAX);
  showChoices(terminal, shown);
  const label = kebab(named.field ?? '');
  const among = named.values === undefined ? '' : ` (${named.values.join(', ')})`;
  const answer = await askLine(terminal, shown.length === 0 ? `${label}${among}: ` : `Number, or ${label}: `);
  if (answer === '') return null;
  const isNumber = shown.length > 0 && /^\d{1,2}$/.test(answer);
  const value = isNumber ? shown[Number(answer) - 1]?.name : answer;
  if (value === undefined)
    throw new UsageFailure(
      `svc ${verb.path}: expected a number from 1 to ${shown.length}, or the ${label}.`,
      `svc ${verb.path} --help`,
    );
  return withValue(argv, 'name' in named ? `--${named.name}=${value}` : null, value);
}

function showChoices({ stderr }: Terminal, shown: readonly LiveName[]): void {
  const width = shown.reduce((max, { name }) => Math.max(max, name.length), 0);
  for (const [at, { name, about }] of shown.entries()) {
    const text = line(`${String(at + 1).padStart(3)}  ${name.padEnd(width)}  ${about}`.trimEnd());
    stderr.write(`${cutLine(text.trimEnd(), sizeOf(stderr).width)}\n`);
  }
}

/** A flag is given before the separator; an argument after it, where a leading dash is no flag. */
function withValue(argv: readonly string[], flag: string | null, value: string): string[] {
  const end = argv.indexOf('--');
  const [before, after] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end + 1)];
  if (flag !== null) return [...before, flag, ...(end < 0 ? [] : ['--', ...after])];
  return [...before, '--', ...after, value];
}

/** Null if they cannot be read: the name can be typed all the same. */
async function choicesOf(terminal: Terminal, { flags }: MissingFailure, live: LiveList): Promise<LiveName[] | null> {
  let client: Client | null = null;
  try {
    client = await openClient(terminal, flags, await withContext(readOptions(flags, terminal), flags, terminal));
    return await readNames(client, live);
  } catch {
    return null;
  } finally {
    await client?.close();
  }
}
