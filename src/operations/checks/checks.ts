import * as z from 'zod';
import { CHECK_KINDS, type CheckKind } from '../../domain/checks/check.ts';
import { readOptions, showOptions } from '../../domain/checks/kinds.ts';
import type { OwnFields } from '../../domain/checks/kind.ts';
import { CHECK_LIMITS } from '../../domain/checks/target.ts';
import { requireDuration } from '../../domain/duration.ts';
import { Failure } from '../../domain/failure.ts';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { fromJson, toJson } from '../../lib/json.ts';
import { changeCheck, deleteCheck, getCheck, holdCheck, insertCheck } from '../../store/checks/checks.ts';
import {
  insertTargets,
  replaceTargets,
  sealTarget,
  snoozeTargets,
  type TargetDefinition,
} from '../../store/checks/targets.ts';
import { assertSameKey } from '../../store/secrets/seal.ts';
import type { CheckRow } from '../../store/schema/schema.ts';
import { replyList } from '../core/batches.ts';
import * as field from '../core/fields.ts';
import { localOnly, readOperation, writeOperation, type Context, type WriteContext } from '../core/operation.ts';
import { reply, replyNone, type Reply, written } from '../core/reply.ts';
import { checkBatches, checkView, viewParts } from './check-view.ts';
import { checkWithHistory } from './history-view.ts';
import { interval, OWN_FIELDS, readInterval, readTargets, targets } from './fields.ts';
import { withinBudget } from './probe-budget.ts';
import { probeOperation } from './probe.ts';

const byName = z.strictObject({ name: field.name });

type Parts = Awaited<ReturnType<typeof viewParts>>;

async function replyGet({ tx }: WriteContext, row: CheckRow, parts: Parts): Promise<Reply> {
  return reply('check.get', await checkView(tx.db, row, parts));
}

/** The stored form of the targets of a body. Throws invalid_argument. */
async function defineTargets(
  { store, services }: Context,
  check: { readonly name: string; readonly kind: CheckKind },
  texts: readonly string[],
): Promise<TargetDefinition[]> {
  const read = await readTargets(services.clock, check.kind, texts);
  const ring = await services.keyring();
  if (read.some(({ credentials }) => credentials !== null)) await assertSameKey(store, ring);
  return read.map((target, position) => sealTarget(ring, check.name, position, target));
}

const list = readOperation({
  id: 'check.list',
  summary: 'List checks with the status of their targets',
  scopes: READERS,
  http: { method: 'GET', path: '/checks' },
  cli: { verb: 'check list', examples: ['svc check list'] },
  mcp: { tool: 'check_list' },
  answers: ['check.list'],
  run: async (context) => replyList('check.list', checkBatches(context.store.db, await viewParts(context))),
});

const get = readOperation({
  id: 'check.get',
  summary: 'Show one check with the status and the history of its targets',
  scopes: READERS,
  ...localOnly('GET /checks has every check with its targets, without the detail of the last probe.'),
  cli: { verb: 'check get', positionals: ['name'], examples: ['svc check get web'] },
  input: byName,
  answers: ['check.get'],
  failures: ['not_found'],
  async run(context, { name }) {
    const { db } = context.store;
    return reply('check.get', await checkWithHistory(db, await getCheck(db, name), await viewParts(context)));
  },
});

const add = writeOperation({
  id: 'check.add',
  causes: { of: 'check' },
  summary: 'Create a check, which probes its targets at an interval',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/checks' },
  cli: {
    verb: 'check add',
    positionals: ['name'],
    examples: [
      'svc check add web --kind tcp --interval 30s --target web1=10.0.0.5:443 --target web2=10.0.0.6:443',
      'svc check add site --kind http --interval 1m --target home=https://www.example.org/ --expect 200',
    ],
    remark: 'down',
  },
  mcp: { tool: 'check_add', additive: true },
  input: z.strictObject({
    name: field.name,
    kind: field.oneOf(CHECK_KINDS).describe('What is probed'),
    interval,
    targets,
    ...OWN_FIELDS,
  }),
  answers: ['check.get'],
  failures: ['duplicate', 'conflict'],
  async prepare(context, { name, kind, interval: every, targets: texts, ...own }) {
    const options = toJson(readOptions(kind, own));
    const definition = { name, kind, interval_ms: readInterval(every), options };
    const defined = await defineTargets(context, definition, texts);
    return { definition, defined, parts: await viewParts(context) };
  },
  async run(context, _input, { definition, defined, parts }) {
    const row = await withinBudget(context, definition.name, async () => {
      const inserted = await insertCheck(context.tx, definition);
      await insertTargets(context.tx, defined);
      return inserted;
    });
    return written(await replyGet(context, row, parts), row.name, { kind: row.kind, targets: defined.length });
  },
});

/** The own fields of a check as they are after a change of some of them. Throws invalid_argument. */
function changedOptions(row: CheckRow, own: OwnFields, defaults: boolean): Partial<Pick<CheckRow, 'options'>> {
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  if (given.length === 0 && !defaults) return {};
  const kept = defaults
    ? []
    : Object.entries(showOptions(row.kind, fromJson(row.options))).filter(([, each]) => each !== null);
  return { options: toJson(readOptions(row.kind, Object.fromEntries([...kept, ...given]))) };
}

const update = writeOperation({
  id: 'check.update',
  causes: { of: 'check' },
  summary: 'Replace the targets of a check; one whose name remains keeps its state',
  scopes: OPERATORS,
  http: { method: 'PUT', path: '/checks/{name}' },
  cli: {
    verb: 'check update',
    positionals: ['name'],
    examples: ['svc check update web --target web1=10.0.0.5:443 --target web3=10.0.0.7:443 --interval 10s'],
    remark: 'down',
  },
  mcp: { tool: 'check_update' },
  input: z.strictObject({
    name: field.name,
    targets,
    interval: interval.optional().describe('Time between two probes of a target, if it changes'),
    ...OWN_FIELDS,
    defaults: field.flag.describe('Own fields of the kind that are not given get their default; else they are kept'),
  }),
  answers: ['check.get'],
  failures: ['not_found', 'conflict'],
  async prepare(context, { name, targets: texts, interval: every }) {
    const { kind } = await getCheck(context.store.db, name);
    const change = every === undefined ? {} : { interval_ms: readInterval(every) };
    const defined = await defineTargets(context, { name, kind }, texts);
    return { kind, change, defined, parts: await viewParts(context) };
  },
  async run(context, { name, targets: _targets, interval: _interval, defaults, ...own }, prepared) {
    const { kind, change, defined, parts } = prepared;
    const [row, counts] = await withinBudget(context, name, async () => {
      const held = await holdCheck(context.tx, name);
      if (held.kind !== kind)
        throw new Failure('conflict', `Check ${name} was replaced by one of kind ${held.kind}; nothing was changed.`);
      const counted = await replaceTargets(context.tx, name, defined);
      const changed = { ...change, ...changedOptions(held, own, defaults) };
      return [await changeCheck(context.tx, name, changed), counted] as const;
    });
    return written(await replyGet(context, row, parts), name, { targets: defined.length, ...counts });
  },
});

function switchOperation(word: 'enable' | 'disable', summary: string) {
  return writeOperation({
    id: `check.${word}`,
    causes: { of: 'check' },
    summary,
    scopes: OPERATORS,
    http: { method: 'POST', path: `/checks/{name}/${word}` },
    cli: { verb: `check ${word}`, positionals: ['name'], examples: [`svc check ${word} web`] },
    mcp: { tool: `check_${word}` },
    input: byName,
    answers: ['check.get'],
    failures: word === 'enable' ? ['not_found', 'conflict'] : ['not_found'],
    prepare: viewParts,
    async run(context, { name }, parts) {
      const row = await withinBudget(context, name, () =>
        changeCheck(context.tx, name, { enabled: word === 'enable' ? 1 : 0 }),
      );
      return written(await replyGet(context, row, parts), name);
    },
  });
}

const enable = switchOperation('enable', 'Enable a check; its targets are probed again');
const disable = switchOperation('disable', 'Disable a check: its targets are not probed and keep their state');

const snooze = writeOperation({
  id: 'check.snooze',
  causes: { of: 'check' },
  summary: 'Suppress the events of a check, or of one target, for a time',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/checks/{name}/snooze' },
  mcp: { none: 'A snooze hides an outage, so a person decides it.' },
  cli: {
    verb: 'check snooze',
    positionals: ['name'],
    examples: ['svc check snooze web --target web1 --for 2h', 'svc check snooze web --for 0'],
  },
  input: z.strictObject({
    name: field.name,
    target: field.name.optional().describe('Name of one target; default all targets of the check'),
    for: field.duration.describe('How long, such as 2h; 0 ends a snooze'),
  }),
  answers: ['check.get'],
  failures: ['not_found'],
  prepare: viewParts,
  async run(context, { name, target, for: span }, parts) {
    const { tx } = context;
    const { snoozeMs } = CHECK_LIMITS;
    const ms = span === '0' ? 0 : requireDuration('for', span, snoozeMs.min, snoozeMs.max);
    const until = ms === 0 ? null : parts.now + ms;
    const row = await changeCheck(tx, name);
    if ((await snoozeTargets(tx, name, target ?? null, until)) === 0)
      throw new Failure('invalid_argument', `target: check ${name} has no target ${target ?? ''}.`);
    const detail = { target: target ?? null, until: until === null ? null : rfc3339(until) };
    return written(await replyGet(context, row, parts), name, detail);
  },
});

const remove = writeOperation({
  id: 'check.remove',
  causes: { of: 'check' },
  summary: 'Remove a check and the state of its targets',
  scopes: OPERATORS,
  http: { method: 'DELETE', path: '/checks/{name}' },
  cli: { verb: 'check remove', positionals: ['name'], examples: ['svc check remove web'] },
  mcp: { tool: 'check_remove' },
  input: byName,
  failures: ['not_found'],
  async run(context, { name }) {
    await withinBudget(context, name, () => deleteCheck(context.tx, name));
    return written(replyNone, name);
  },
});

export const CHECK_OPERATIONS = [list, get, add, update, enable, disable, probeOperation, snooze, remove];
