import { FLAG, given, optionalText, requiredText, type RuleActionRow } from '../actions/action-row.ts';
import { ActionRefused } from '../actions/action-refused.ts';
import { isNameValue, isPathValue } from '../actions/event-value.ts';
import { type Check, type Field, field, type Fill, name, optional, timeout } from '../actions/field.ts';
import {
  checkReach,
  type Reach,
  REACH_NAMES,
  REACH_SCHEMAS,
  readFlag,
  readReach,
  writeReach,
} from '../actions/reach.ts';
import { givenReveal, readReveal, type Reveal, REVEAL_SCHEMA } from '../actions/reveal.ts';
import { host, limit } from '../actions/targets.ts';
import { subjectOf } from '../events/causes.ts';
import { NAME } from '../name.ts';
import { refused, textOf } from '../yaml/fields.ts';
import type { YamlMap } from '../yaml/file.ts';
import { type Json, mapOf } from '../yaml/json.ts';
import { extraVarsFault } from './extra-vars.ts';
import { playbookFault, type PlaybookSpec, tagsFault } from './playbook.ts';

/** What an action that runs a playbook says beside its kind. */
export interface PlaybookAction
  extends
    Reach,
    Reveal,
    Pick<PlaybookSpec, 'playbook' | 'inventory' | 'limit' | 'tags' | 'check' | 'diff' | 'extraVars' | 'vaultProject'> {
  readonly source: string;
  readonly skipTags: readonly string[];
  readonly tolerateUnreachable: boolean;
  readonly timeout: string | null;
  /** True for a limit with a value of an event in it: it must be one host. Never stored. */
  readonly isOfEvent?: boolean;
}

/** One, or a list of them. */
const TAGS = { type: ['string', 'array'], items: { type: 'string' } };

export const playbookRuleAction: RuleActionRow<PlaybookAction> = {
  others: [
    'source',
    'inventory',
    'limit',
    'tags',
    'skip_tags',
    'check',
    'diff',
    'extra_vars',
    'vault_project',
    'tolerate_unreachable',
    'timeout',
    'reveal',
    ...REACH_NAMES,
  ],
  schemas: {
    tags: TAGS,
    skip_tags: TAGS,
    check: FLAG,
    diff: FLAG,
    extra_vars: { type: 'object' },
    tolerate_unreachable: FLAG,
    ...REVEAL_SCHEMA,
    ...REACH_SCHEMAS,
  },
  read: (map, value, prefix) => ({
    playbook: textOf(`${prefix}playbook`, value),
    source: requiredText(map, 'source', prefix),
    inventory: requiredText(map, 'inventory', prefix),
    limit: optionalText(map, 'limit', prefix),
    tags: readTags(map, 'tags', prefix),
    skipTags: readTags(map, 'skip_tags', prefix),
    check: readFlag(map, 'check', prefix),
    diff: readFlag(map, 'diff', prefix),
    extraVars: readVars(map, prefix),
    vaultProject: optionalText(map, 'vault_project', prefix),
    tolerateUnreachable: readFlag(map, 'tolerate_unreachable', prefix),
    timeout: optionalText(map, 'timeout', prefix),
    ...readReveal(map, prefix),
    ...readReach(map, prefix),
  }),
  write: (action) => ({
    playbook: action.playbook,
    source: action.source,
    inventory: action.inventory,
    ...given('limit', action.limit),
    ...listed('tags', action.tags),
    ...listed('skip_tags', action.skipTags),
    ...(action.check ? { check: true } : {}),
    ...(action.diff ? { diff: true } : {}),
    ...(Object.keys(action.extraVars).length > 0 ? { extra_vars: action.extraVars } : {}),
    ...given('vault_project', action.vaultProject),
    ...(action.tolerateUnreachable ? { tolerate_unreachable: true } : {}),
    ...given('timeout', action.timeout),
    ...givenReveal(action),
    ...writeReach(action),
  }),
  subjects: ({ source, inventory }) => [subjectOf('source', source), subjectOf('inventory', inventory)],
  async compile(action) {
    requireFixed(action);
    checkReach(action);
    const source = await field('source', action.source, name);
    const inventory = await field('inventory', action.inventory, name);
    const hosts = await optional('limit', action.limit, host, limit);
    const time = await optional('timeout', action.timeout, timeout);
    const vars = await compileVars(action.extraVars);
    return (fill) => ({
      ...action,
      source: fill(source),
      inventory: fill(inventory),
      limit: hosts && fill(hosts),
      extraVars: vars(fill),
      timeout: time && fill(time),
      ...(action.limit?.includes('${') === true ? { isOfEvent: true } : {}),
    });
  },
};

function listed(name: string, items: readonly unknown[]): Readonly<Record<string, unknown>> {
  return items.length > 0 ? { [name]: items } : {};
}

function refuse(named: string, fault: string | null): void {
  if (fault !== null) throw new ActionRefused(named, fault);
}

/** Fields that take no value of an event. Throws ActionRefused. */
function requireFixed({ playbook, tags, skipTags, vaultProject, extraVars }: PlaybookAction): void {
  refuse('playbook', playbook.includes('${') ? '${…} is not accepted here' : playbookFault(playbook));
  for (const [named, each] of [
    ['tags', tags],
    ['skip_tags', skipTags],
  ] as const)
    refuse(named, each.some((tag) => tag.includes('${')) ? '${…} is not accepted here' : tagsFault(each));
  if (vaultProject !== null && !NAME.test(vaultProject)) refuse('vault_project', 'expected the name of a project');
  refuse('extra_vars', extraVarsFault(extraVars));
}

const eventValue: Check = (text) =>
  isNameValue(text) || isPathValue(text) ? { text } : { fault: 'expected a name, or an absolute path without ".."' };
const anyText: Check = (text) => ({ text });

/** The variables with their expressions, at any depth. */
async function compileVars(vars: PlaybookAction['extraVars']): Promise<(fill: Fill) => PlaybookAction['extraVars']> {
  const values = await Promise.all(
    Object.entries(vars).map(async ([key, value]) => [key, await compileValue(key, value)] as const),
  );
  return (fill) => Object.fromEntries(values.map(([key, value]) => [key, value(fill)]));
}

async function compileValue(key: string, value: Json): Promise<(fill: Fill) => Json> {
  if (typeof value === 'string') {
    const compiled: Field = await field(`extra_vars.${key}`, value, eventValue, anyText);
    return (fill) => fill(compiled);
  }
  if (typeof value !== 'object' || value === null) return () => value;
  if (Array.isArray(value)) {
    const items = await Promise.all((value as readonly Json[]).map((each) => compileValue(key, each)));
    return (fill) => items.map((each) => each(fill));
  }
  const fields = await Promise.all(
    Object.entries(value).map(async ([inner, each]) => [inner, await compileValue(key, each)] as const),
  );
  return (fill) => Object.fromEntries(fields.map(([inner, each]) => [inner, each(fill)]));
}

/** A list of tags, or one text with commas between them. */
function readTags(map: YamlMap, named: string, prefix: string): readonly string[] {
  const value = map.fields.get(named);
  if (value === undefined) return [];
  const tags =
    value.kind === 'list'
      ? value.items.map((item) => textOf(`${prefix}${named}`, item))
      : textOf(`${prefix}${named}`, value).split(',');
  return tags;
}

function readVars(map: YamlMap, prefix: string): PlaybookAction['extraVars'] {
  const value = map.fields.get('extra_vars');
  if (value === undefined) return {};
  if (value.kind !== 'map') throw refused(`${prefix}extra_vars`, value, 'expected variables with their values');
  return mapOf(value);
}
