import { pause } from '../../../lib/clock.ts';
import { withContext } from '../context/chosen-context.ts';
import { listContexts, LOCAL } from '../context/contexts.ts';
import { openClient } from '../connection/open-client.ts';
import type { ProgramSession } from '../connection/session.ts';
import { print } from '../print.ts';
import { readOptions } from '../context/options.ts';
import { type Flag, TREE, type Verb } from '../syntax/tree.ts';
import type { GivenFlags } from '../syntax/arguments.ts';
import type { Terminal } from '../terminal.ts';
import { liveListOf, type Named, readNames } from './live-list.ts';

/** A user at a prompt waits no longer than this, in milliseconds, for names. */
const LIMIT_MS = 1_500;
/** Shells read the answer as words, so no other name is proposed. */
const PLAIN = /^[\w.:@/+-]{1,200}$/;

/** What the last of some words may be: the words before it say which verb and which flag. */
interface Partly {
  readonly verb: Verb | null;
  readonly named: Flag | Named;
  readonly flags: GivenFlags;
  readonly begun: string;
}

/**
 * `svc complete -- WORD...`: the names that the last word may become, one a line. For completion scripts: after a
 * failure, or where it takes too long, the answer is empty and the exit code 0.
 */
export async function complete(session: ProgramSession): Promise<number> {
  const { terminal, fields } = session;
  const words = (fields['words'] ?? []) as readonly unknown[];
  const asked = readPartly(words.map(String));
  const late = pause(terminal.clock, LIMIT_MS).then(() => []);
  const names = asked === null ? [] : await Promise.race([namesFor(terminal, asked).catch(() => []), late]);
  const fitting = names.filter((name) => PLAIN.test(name) && name.startsWith(asked?.begun ?? ''));
  return print(session, 'completion.names', fitting, () => fitting.map((name) => `${name}\n`).join(''));
}

async function namesFor(terminal: Terminal, { verb, named, flags }: Partly): Promise<string[]> {
  if (isContext(verb, named)) return [...(await listContexts(terminal.env)).map(({ name }) => name), LOCAL];
  const live = verb === null ? null : liveListOf(TREE, verb, named);
  if (live === null) return [];
  const options = await withContext(readOptions(flags, terminal), flags, terminal);
  const client = await openClient(terminal, flags, options);
  try {
    return (await readNames(client, live)).map(({ name }) => name);
  } finally {
    await client.close();
  }
}

function isContext(verb: Verb | null, named: Flag | Named): boolean {
  return 'name' in named ? named.name === 'context' : verb?.path.startsWith('context ') === true;
}

/** Null if the last word is a flag, free text, or no part of a command that svc knows. */
function readPartly(words: readonly string[]): Partly | null {
  const begun = words.at(-1) ?? '';
  const flags: Record<string, string> = {};
  const path: string[] = [];
  let verb: Verb | null = null;
  let given = 0;
  let open: Flag | null = null;
  for (const word of words.slice(0, -1)) {
    if (word === '--') return null;
    // Bash splits `--flag=value` into three words.
    if (word === '=') continue;
    if (open !== null) {
      flags[open.name] = word;
      open = null;
    } else if (word.startsWith('--')) open = takeFlag(word, verb, flags);
    else if (verb === null) {
      path.push(word);
      verb = TREE.verbs.find((each) => each.path === path.join(' ')) ?? null;
    } else given += 1;
  }
  if (open !== null) return { verb, named: open, flags, begun };
  const named = verb?.positionals[given] ?? verb?.positionals.findLast(({ rest }) => rest === true);
  return named === undefined || begun.startsWith('-') ? null : { verb, named, flags, begun };
}

/** The flag, if its value is the next word. */
function takeFlag(word: string, verb: Verb | null, flags: Record<string, string>): Flag | null {
  const [name = '', ...rest] = word.slice(2).split('=');
  const flag = [...(verb?.flags ?? []), ...TREE.globals].find((each) => each.name === name);
  if (flag === undefined) return null;
  if (flag.type !== 'boolean' && rest.length === 0) return flag;
  flags[name] = rest.length === 0 ? 'true' : rest.join('=');
  return null;
}
