import { given, optionalText, requiredText, type RuleActionRow, SCALARS } from '../actions/action-row.ts';
import { ActionRefused } from '../actions/action-refused.ts';
import { field, type Field, type Fill, name, optional, refusing, timeout, Unfilled } from '../actions/field.ts';
import {
  checkReach,
  givenReach,
  type Reach,
  REACH_NAMES,
  REACH_SCHEMAS,
  readReach,
  writeReach,
} from '../actions/reach.ts';
import { givenReveal, readReveal, type Reveal, REVEAL_SCHEMA } from '../actions/reveal.ts';
import { host, limit } from '../actions/targets.ts';
import { compileTemplate, type Template } from '../actions/template.ts';
import { subjectOf } from '../events/causes.ts';
import { refused, textOf } from '../yaml/fields.ts';
import type { YamlValue } from '../yaml/file.ts';
import { COMMAND_BYTES_MAX, COMMAND_WORDS_MAX, commandBytes } from './command.ts';
import { commandWords, refusesPaths } from './words.ts';

/** What an action that runs a command says beside its kind. */
export interface CommandAction extends Reach, Reveal {
  readonly command: readonly string[];
  readonly inventory: string;
  readonly limit: string | null;
  readonly timeout: string | null;
  /** True for a limit with a value of an event in it: it must be one host. Never stored. */
  readonly isOfEvent?: boolean;
}

export const commandRuleAction: RuleActionRow<CommandAction> = {
  others: ['inventory', 'limit', 'timeout', 'reveal', ...REACH_NAMES],
  schemas: {
    command: { ...SCALARS, description: 'The program and its arguments, one word each; no shell reads it' },
    ...REVEAL_SCHEMA,
    ...REACH_SCHEMAS,
  },
  read: (map, value, prefix) => ({
    command: readWords(value, prefix),
    inventory: requiredText(map, 'inventory', prefix),
    limit: optionalText(map, 'limit', prefix),
    timeout: optionalText(map, 'timeout', prefix),
    ...readReveal(map, prefix),
    ...readReach(map, prefix),
  }),
  write: ({ command, inventory, limit: hosts, timeout: time, reveal, ...reach }) => ({
    command,
    inventory,
    ...given('limit', hosts),
    ...given('timeout', time),
    ...givenReveal({ reveal }),
    ...writeReach(reach),
  }),
  subjects: ({ inventory }) => [subjectOf('inventory', inventory)],
  async compile(action, isEarlier) {
    checkReach(action);
    const words = await wordsOf(action.command, isEarlier);
    const inventory = await field('inventory', action.inventory, name);
    const [hosts, time] = [
      await optional('limit', action.limit, host, limit),
      await optional('timeout', action.timeout, timeout),
    ];
    return (fill) => ({
      command: fillWords(words, fill),
      inventory: fill(inventory),
      limit: hosts && fill(hosts),
      timeout: time && fill(time),
      ...givenReveal(action),
      ...givenReach(action),
      ...(action.limit?.includes('${') === true ? { isOfEvent: true } : {}),
    });
  },
  async mayRefuse({ command }) {
    const word = refusesPaths(await templatesOf(command));
    return word === null ? null : `command: word ${word + 1} refuses a path; write \${path(…)} if the value can be one`;
  },
};

function readWords(value: YamlValue, prefix: string): string[] {
  const named = `${prefix}command`;
  if (value.kind !== 'list')
    throw refused(named, value, 'expected a list of words, as in ["df", "-h"]; no shell reads it');
  return value.items.map((item) => textOf(named, item));
}

async function wordsOf(words: readonly string[], isEarlier: boolean): Promise<Field[]> {
  if (words.length === 0) throw new ActionRefused('command', 'expected at least one word');
  if (words.length > COMMAND_WORDS_MAX)
    throw new ActionRefused('command', `expected at most ${COMMAND_WORDS_MAX} words`);
  return commandWords(await templatesOf(words), isEarlier).map((fill) => (facts) => {
    const filled = fill(facts);
    return 'error' in filled ? { error: `command: ${filled.error}` } : filled;
  });
}

async function templatesOf(words: readonly string[]): Promise<Template[]> {
  const templates: Template[] = [];
  for (const [index, each] of words.entries())
    templates.push(await refusing('command', index, () => compileTemplate(each)));
  return templates;
}

function fillWords(words: readonly Field[], fill: Fill): string[] {
  const filled = words.map(fill);
  if (commandBytes(filled) > COMMAND_BYTES_MAX)
    throw new Unfilled(`command: expected at most ${COMMAND_BYTES_MAX} bytes in all`);
  return filled;
}
