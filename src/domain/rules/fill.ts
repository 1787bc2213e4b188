import { isIP } from 'node:net';
import { CelRefused } from '../cel/refused.ts';
import { COMMAND_BYTES_MAX, COMMAND_WORDS_MAX, commandBytes } from '../commands/command.ts';
import { parseDuration } from '../duration.ts';
import type { EventFacts } from '../events/event.ts';
import { JOB_TIMEOUT_MAX_MS } from '../jobs/job.ts';
import { NAME } from '../name.ts';
import type { Action } from './rule.ts';
import { ActionRefused } from './action-refused.ts';
import { compileTemplate, lintTemplate, shown, type Template } from './template.ts';
import { commandWords } from './words.ts';

/** An action whose expressions are checked. */
export interface CompiledAction {
  /** Never throws. What it fills in is valid for its field; an error names the field and no value of the event. */
  fill(facts: EventFacts): { readonly action: Action } | { readonly error: string };
}

/** What is said of a value that a field does not take, whoever it came from; it names no value. */
type Check = (text: string) => { readonly text: string } | { readonly fault: string };

const NAME_FAULT = 'expected 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit';
const TIMEOUT_MIN_MS = 1_000;
const MESSAGE_CHARACTERS_MAX = 1_000;
const LIMIT_CHARACTERS_MAX = 1_000;
const HOST_CHARACTERS_MAX = 253;
const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const HOST_AND_PORT = /^(?<host>[^:[\]]+|\[[^[\]]+\]):\d{1,5}$/;
/** Groups that every inventory has: as a limit they are no host. */
const EVERY_HOST = new Set(['all', 'ungrouped']);

const name: Check = (text) => (NAME.test(text) ? { text } : { fault: NAME_FAULT });

const timeout: Check = (text) => {
  const ms = parseDuration(text);
  if (ms === null) return { fault: 'expected a duration such as 30s, 5m or 1h30m' };
  return ms >= TIMEOUT_MIN_MS && ms <= JOB_TIMEOUT_MAX_MS ? { text } : { fault: 'expected at least 1s and at most 7d' };
};

/** One host, and nothing that a tool reads as more: no pattern, list, group of all, file or option. */
const host: Check = (text) => {
  // What monitors call an instance is mostly host:port. Other colons stand between the hosts of a list.
  const bare = (HOST_AND_PORT.exec(text)?.groups?.['host'] ?? text).replace(/^\[(.*)\]$/, '$1');
  const isHost =
    bare.length <= HOST_CHARACTERS_MAX && !EVERY_HOST.has(bare.toLowerCase()) && (HOST.test(bare) || isIP(bare) !== 0);
  return isHost && !bare.includes('%') ? { text: bare } : { fault: 'expected the name or the address of one host' };
};

/** Whoever writes a rule may name several hosts, but neither an option nor a file of hosts. */
const limit: Check = (text) =>
  text !== '' && text.length <= LIMIT_CHARACTERS_MAX && !/^[-@]|\p{Cc}/u.test(text)
    ? { text }
    : { fault: 'expected hosts of the inventory' };

const message: Check = (text) => ({ text: text.slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed() });
const fixedMessage: Check = (text) =>
  text !== '' && text.length <= MESSAGE_CHARACTERS_MAX
    ? { text }
    : { fault: `expected true, or a text of 1 to ${MESSAGE_CHARACTERS_MAX} characters` };

/** `${…}` in one action: each takes 1 ms to compile, and whoever waits for the rules waits for all of them. */
const EXPRESSIONS_MAX = 50;

/** A compiled field: its value, or null where it has none. */
type Field = (facts: EventFacts) => { readonly text: string } | { readonly error: string };

/**
 * Checks an action, with the expressions in it; `isEarlier` for that of a rule which an earlier build stored. Throws
 * ActionRefused.
 */
export async function compileAction(action: Action, isEarlier = false): Promise<CompiledAction> {
  const count = JSON.stringify(action).split('${').length - 1;
  if (count > EXPRESSIONS_MAX)
    throw new ActionRefused(action.kind, `expected at most ${EXPRESSIONS_MAX} times \${…}, and there are ${count}`);
  switch (action.kind) {
    case 'command': {
      const words = await wordsOf(action.command, isEarlier);
      const inventory = await field('inventory', action.inventory, name);
      const [hosts, time] = [
        await optional('limit', action.limit, host, limit),
        await optional('timeout', action.timeout, timeout),
      ];
      return filling((fill) => ({
        kind: action.kind,
        command: fillWords(words, fill),
        inventory: fill(inventory),
        limit: hosts && fill(hosts),
        timeout: time && fill(time),
      }));
    }
    case 'plan':
    case 'drift':
    case 'apply':
    case 'destroy': {
      const workspace = await field(action.kind, action.workspace, name);
      const time = await optional('timeout', action.timeout, timeout);
      return filling((fill) => ({ kind: action.kind, workspace: fill(workspace), timeout: time && fill(time) }));
    }
    case 'notify': {
      const text = await optional('notify', action.message, message, fixedMessage);
      return filling((fill) => ({ kind: action.kind, message: text && fill(text) }));
    }
  }
}

/**
 * Refuses what the expressions of an action do with constants alone; for one that is being defined, behind
 * compileAction. Throws ActionRefused.
 */
export async function lintAction(action: Action): Promise<void> {
  switch (action.kind) {
    case 'command':
      for (const [index, each] of action.command.entries()) await lint('command', each, index);
      await lint('inventory', action.inventory);
      await lint('limit', action.limit);
      return lint('timeout', action.timeout);
    case 'plan':
    case 'drift':
    case 'apply':
    case 'destroy':
      await lint(action.kind, action.workspace);
      return lint('timeout', action.timeout);
    case 'notify':
      return lint('notify', action.message);
  }
}

async function lint(named: string, source: string | null, wordIndex: number | null = null): Promise<void> {
  if (source !== null) await refusing(named, wordIndex, () => lintTemplate(source));
}

/** Ends a fill from within: what it carries is the error. */
class Unfilled extends Error {}

function filling(make: (fill: (field: Field) => string) => Action): CompiledAction {
  return {
    fill(facts) {
      try {
        const action = make((each) => {
          const filled = each(facts);
          if ('error' in filled) throw new Unfilled(filled.error);
          return filled.text;
        });
        return { action };
      } catch (thrown) {
        if (thrown instanceof Unfilled) return { error: thrown.message };
        throw thrown;
      }
    },
  };
}

function optional(named: string, source: string | null, check: Check, fixed: Check = check): Promise<Field> | null {
  return source === null ? null : field(named, source, check, fixed);
}

/** A field of the action: what stands fixed is checked now, what an expression yields when it does. */
async function field(named: string, source: string, check: Check, fixed: Check = check): Promise<Field> {
  return fieldOf(named, await refusing(named, null, () => compileTemplate(source)), check, fixed);
}

function fieldOf(named: string, template: Template, check: Check, fixed: Check): Field {
  if (template.fixed !== null) {
    const checked = fixed(template.fixed);
    if ('fault' in checked) throw new ActionRefused(named, checked.fault);
    return () => checked;
  }
  const { parts } = template;
  const expressions = parts.filter((part) => 'isPath' in part);
  if (expressions.some(({ isPath }) => isPath))
    throw new ActionRefused(named, '${path(…)} is accepted in a word of a command only');
  return (facts) => {
    let text = '';
    for (const part of parts) {
      const filled = 'literal' in part ? { text: part.literal } : part.fill(facts);
      if ('error' in filled) return { error: `${named}: ${filled.error}` };
      text += filled.text;
    }
    const checked = check(text);
    if ('text' in checked) return checked;
    return { error: `${named}: ${shown(expressions, text, facts)}; ${checked.fault}` };
  };
}

/** What is said of an expression is said of the field, and of the word, that it stands in. */
async function refusing<T>(named: string, wordIndex: number | null, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    if (thrown instanceof CelRefused) throw new ActionRefused(named, thrown.message, wordIndex);
    throw thrown;
  }
}

async function wordsOf(words: readonly string[], isEarlier: boolean): Promise<Field[]> {
  if (words.length === 0) throw new ActionRefused('command', 'expected at least one word');
  if (words.length > COMMAND_WORDS_MAX)
    throw new ActionRefused('command', `expected at most ${COMMAND_WORDS_MAX} words`);
  const templates: Template[] = [];
  for (const [index, each] of words.entries())
    templates.push(await refusing('command', index, () => compileTemplate(each)));
  return commandWords(templates, isEarlier).map((fill) => (facts) => {
    const filled = fill(facts);
    return 'error' in filled ? { error: `command: ${filled.error}` } : filled;
  });
}

function fillWords(words: readonly Field[], fill: (field: Field) => string): string[] {
  const filled = words.map(fill);
  if (commandBytes(filled) > COMMAND_BYTES_MAX)
    throw new Unfilled(`command: it has more than ${COMMAND_BYTES_MAX} bytes in all`);
  return filled;
}
