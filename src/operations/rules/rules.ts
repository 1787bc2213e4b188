import * as z from 'zod';
import { formatDuration } from '../../domain/duration.ts';
import { type Reach, REACH_NAMES, reachOf } from '../../domain/actions/reach.ts';
import { Failure } from '../../domain/failure.ts';
import { RULE_ACTIONS, type RuleAction } from '../../domain/rules/actions.ts';
import { readRuleFile, type RuleFile } from '../../domain/rules/file.ts';
import { ruleFault } from '../../domain/rules/fault.ts';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { YAML_BYTES_MAX } from '../../domain/yaml/file.ts';
import { refuseDisabling } from '../../jobs/from-afar.ts';
import { requireRuleTargets } from '../../jobs/actions.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { dryRun } from '../../reaction/dry-run.ts';
import { explainTrial } from '../../reaction/explain.ts';
import { getEvent } from '../../store/events/events.ts';
import {
  deleteRule,
  findRule,
  getRule,
  holdRule,
  insertRule,
  listRules,
  type NewRule,
  readableRule,
  replaceRule,
  switchRule,
} from '../../store/rules/rules.ts';
import type { RuleRow, SilenceRow } from '../../store/schema/schema.ts';
import { cutSilencesOf, silencedRules } from '../../store/rules/silences.ts';
import * as field from '../core/fields.ts';
import { actionDetail, requireWritable } from '../core/reach-input.ts';
import {
  type Context,
  localOnly,
  type Operation,
  readOperation,
  type WriteContext,
  writeOperation,
} from '../core/operation.ts';
import { reply, type Reply, written } from '../core/reply.ts';
import type { ViewData, ViewItem } from '../../views/views.ts';
import { exportRule, withKept } from './rule-export.ts';

const RULES_ONLY = {
  none: 'It changes what is done about events. Its owners are in the chain of each job of the rule.',
};

const LOCAL_ONLY = localOnly(
  'Rules start jobs without a request, so they are changed on the machine only, like code that runs there.',
);

function ruleView(row: RuleRow, silence: SilenceRow | undefined): ViewItem<'rule.list'> {
  return {
    name: row.name,
    enabled: row.enabled === 1,
    when: row.when_text,
    cooldown: row.cooldown_ms === null ? null : formatDuration(row.cooldown_ms),
    approval: row.approval,
    // The view has no place for the words of a command.
    action: readableRule(row).rule.action,
    last_fired_at: row.last_fired_at === null ? null : rfc3339(row.last_fired_at),
    ...(silence === undefined ? {} : { silenced_until: rfc3339(silence.expires_at), silence_id: silence.id }),
  };
}

function getView(row: RuleRow, silence: SilenceRow | undefined) {
  return {
    ...ruleView(row, silence),
    approval_ttl: row.approval_ttl_ms === null ? null : formatDuration(row.approval_ttl_ms),
    added_by: row.added_by,
    created_at: rfc3339(row.created_at),
    updated_at: rfc3339(row.updated_at),
    ...reachView(readableRule(row).rule.action),
  };
}

/** What the jobs of an action may reach, for kinds of which a file can say that. */
function reachView(action: RuleAction): Pick<ViewData<'rule.get'>, 'reach'> {
  const { others } = RULE_ACTIONS[action.kind];
  if (!REACH_NAMES.every((name) => others.includes(name))) return {};
  const { egressPorts, privileged, writable } = reachOf(action as Reach);
  return { reach: { egress_ports: [...egressPorts], privileged, writable: [...writable] } };
}

/** A rule after a write, with the silence that stops it, so that the caller sees that it does not act yet. */
async function replyRule({ tx }: WriteContext, row: RuleRow): Promise<Reply> {
  const silenced = await silencedRules(tx.db, await tx.dialect.clock(tx.db, tx.now), row.name);
  return reply('rule.get', getView(row, silenced.get(row.name)));
}

/** The rules that a silence stops now. */
async function silencedNow({ store, services }: Context, rule?: string): Promise<ReadonlyMap<string, SilenceRow>> {
  return silencedRules(store.db, await store.dialect.clock(store.db, services.clock.now()), rule);
}

const list = readOperation({
  id: 'rule.list',
  summary: 'List rules in the order of evaluation',
  scopes: READERS,
  http: { method: 'GET', path: '/rules' },
  cli: { verb: 'rule list', examples: ['svc rule list'] },
  mcp: { tool: 'rule_list' },
  answers: ['rule.list'],
  async run(context) {
    const silenced = await silencedNow(context);
    return reply(
      'rule.list',
      (await listRules(context.store.db)).map((row) => ruleView(row, silenced.get(row.name))),
    );
  },
});

const byName = z.strictObject({ name: field.name });

const get = readOperation({
  id: 'rule.get',
  summary: 'Show one rule',
  scopes: READERS,
  http: { none: 'The list has every rule.' },
  cli: { verb: 'rule get', positionals: ['name'], examples: ['svc rule get disk-full'] },
  mcp: { none: 'rule_list shows every rule.' },
  input: byName,
  answers: ['rule.get'],
  failures: ['not_found'],
  async run(context, { name }) {
    const row = await getRule(context.store.db, name);
    return reply('rule.get', getView(row, (await silencedNow(context, name)).get(name)));
  },
});

const add = writeOperation({
  id: 'rule.add',
  causes: RULES_ONLY,
  summary: 'Add a rule from a file; it applies to later events',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'rule add',
    stdin: { field: 'text', what: 'the rule', cure: '', question: null },
    positionals: ['name'],
    // The command line reads the file and sends its text.
    omit: ['text'],
    examples: [
      'svc rule add disk-full --file disk-full.yaml --disabled',
      'svc rule add disk-full --file disk-full.yaml --replace',
    ],
  },
  input: z.strictObject({
    name: field.name.optional(),
    text: z
      .string({ error: 'expected the text of a rule file' })
      .refine((text) => Buffer.byteLength(text) <= YAML_BYTES_MAX, {
        error: `expected at most ${YAML_BYTES_MAX} bytes`,
      }),
    replace: z.boolean().default(false).describe('Replace the rule of this name, if any; it stays enabled or disabled'),
    disabled: z.boolean().default(false).describe('Add it disabled; try it with svc rule test before svc rule enable'),
  }),
  answers: ['rule.get'],
  failures: ['duplicate', 'not_found'],
  async prepare({ store, services }, { name: given, text, replace }) {
    const file = await readRuleFile(text);
    requireWritable(services, file.action);
    const name = nameOf(given, file);
    const stored = replace ? await findRule(store.db, name) : undefined;
    return { file: await withKept(file, stored), name };
  },
  async run(context, { replace, disabled }, { file, name }) {
    const { tx, caller } = context;
    await requireRuleTargets(tx, file.action);
    const rule: NewRule = { ...file, name, owners: [caller.owner], addedBy: caller.name, disabled };
    forgetAfter(context);
    const row = (replace ? await replaceRule(tx, rule) : undefined) ?? (await insertRule(tx, rule));
    const enabled = row.enabled === 1;
    const detail = { action: file.action.kind, replace, enabled, ...actionDetail(file.action) };
    return written(await replyRule(context, row), name, detail);
  },
});

/** The file or the caller names the rule; if both do, the names must be the same. */
function nameOf(given: string | undefined, file: RuleFile): string {
  if (given !== undefined && file.name !== null && given !== file.name) {
    throw new Failure('invalid_argument', `name: the rule is called ${given} here and ${file.name} in the file.`);
  }
  const name = given ?? file.name;
  if (name === null) throw new Failure('invalid_argument', 'name: this field is required, here or in the file.');
  return name;
}

/** Later events are evaluated with the changed rules. */
function forgetAfter({ tx, services }: WriteContext): void {
  tx.afterCommit(() => services.reaction.rules.forget());
}

const remove = writeOperation({
  id: 'rule.remove',
  causes: RULES_ONLY,
  summary: 'Remove a rule, its history and its silences; its jobs remain',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'rule remove', removes: true, positionals: ['name'], examples: ['svc rule remove disk-full'] },
  input: byName,
  answers: ['rule.get'],
  failures: ['not_found'],
  async run(context, { name }) {
    const { tx } = context;
    await holdRule(tx, name);
    // A silence of this rule would stop another rule that is given the name later.
    const ended = await cutSilencesOf(tx, name, await tx.dialect.clock(tx.db, tx.now));
    forgetAfter(context);
    const removed = reply('rule.get', { ...getView(await deleteRule(tx, name), undefined), ended_silences: ended });
    return written(removed, name, ended.length === 0 ? {} : { ended_silences: ended });
  },
});

const enable = writeOperation({
  id: 'rule.enable',
  causes: RULES_ONLY,
  summary: 'Enable a rule',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'rule enable', positionals: ['name'], examples: ['svc rule enable disk-full'] },
  input: byName,
  answers: ['rule.get'],
  failures: ['not_found'],
  async prepare({ store }, { name }) {
    const { rule, fault: unread } = readableRule(await getRule(store.db, name));
    const fault = unread ?? (await ruleFault(rule));
    if (fault !== null)
      throw new Failure(
        'invalid_argument',
        `The rule ${name} cannot be read by this version: ${fault}. Replace it: svc rule add ${name} ` +
          '--replace --file FILE',
      );
  },
  async run(context, { name }) {
    forgetAfter(context);
    // The user who enables a rule becomes a requester, besides its author, and may not approve its jobs (T28).
    const row = await switchRule(context.tx, name, { enabled: true, owner: context.caller.owner });
    return written(await replyRule(context, row), name);
  },
});

const disable = writeOperation({
  id: 'rule.disable',
  causes: RULES_ONLY,
  summary: 'Disable a rule; jobs that it queued continue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/rules/{name}/disable' },
  mcp: { none: 'A person decides which rules act.' },
  cli: { verb: 'rule disable', positionals: ['name'], examples: ['svc rule disable disk-full'] },
  input: byName,
  answers: ['rule.get'],
  failures: ['not_found', 'conflict'],
  async run(context, { name }) {
    forgetAfter(context);
    const row = await switchRule(context.tx, name, { enabled: false });
    refuseDisabling(context.caller, row);
    return written(await replyRule(context, row), name);
  },
});

const test = readOperation({
  id: 'rule.test',
  summary: 'Show what a rule would do with a past event; nothing is written',
  scopes: READERS,
  http: { none: 'It belongs to writing a rule, which is done on the machine itself.' },
  cli: {
    verb: 'rule test',
    positionals: ['name'],
    examples: ['svc rule test disk-full --event evt_01m7yd4zyke00anp2z332d2j5p'],
  },
  mcp: { none: 'It belongs to writing a rule, which is done on the machine itself.' },
  input: z.strictObject({
    name: field.name,
    event: field.id('evt').describe('Event to test with; see svc event list'),
  }),
  answers: ['rule.test'],
  failures: ['not_found'],
  async run({ store, services }, { name, event }) {
    const { rule: defined } = readableRule(await getRule(store.db, name));
    const row = await getEvent(store.db, event);
    services.reaction.rules.forget();
    const rule = await services.reaction.rules.rule(name);
    if (rule === undefined) throw field.notFound(`rule ${name}`);
    const { fires, outcome, reason, trace } = await dryRun(services.reaction, rule, row);
    const steps = await explainTrial(trace, rule, row, services.clock.now());
    return reply('rule.test', {
      rule: name,
      event_id: event,
      fires,
      outcome,
      reason,
      trace: [...steps],
      ...reachView(defined.action),
    });
  },
});

export const RULE_OPERATIONS: readonly Operation[] = [list, get, exportRule, add, remove, enable, disable, test];
