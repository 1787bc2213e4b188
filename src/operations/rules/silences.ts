import * as z from 'zod';
import { CelRefused } from '../../domain/cel/refused.ts';
import { parseDuration } from '../../domain/duration.ts';
import { Failure } from '../../domain/failure.ts';
import { compileCondition } from '../../domain/conditions/condition.ts';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { holdRule } from '../../store/rules/rules.ts';
import type { SilenceRow } from '../../store/schema/schema.ts';
import { cutSilence, insertSilence, listSilences } from '../../store/rules/silences.ts';
import { listInBatches, replyList } from '../core/batches.ts';
import * as field from '../core/fields.ts';
import { type Operation, readOperation, writeOperation } from '../core/operation.ts';
import { reply, replyNone, written } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';

/** As long as the reason of a decision. */
const REASON_MAX = 1_000;
/** What is silent for longer is better disabled. */
const FOR_MAX_MS = 366 * 86_400_000;

const NO_AGENT = { none: 'A silence stops rules, so a person decides it.' };

function silenceView(row: SilenceRow): ViewItem<'silence.list'> {
  return { ...row, when: row.when_text, created_at: rfc3339(row.created_at), expires_at: rfc3339(row.expires_at) };
}

const list = readOperation({
  id: 'silence.list',
  summary: 'List silences, newest first',
  scopes: READERS,
  http: { method: 'GET', path: '/silences' },
  cli: { verb: 'silence list', examples: ['svc silence list', 'svc silence list --all'] },
  mcp: { none: 'event_list and rule_list show what rules do, and what was suppressed.' },
  input: z.strictObject({ all: field.flag.describe('Include expired ones') }),
  answers: ['silence.list'],
  async run({ store, services }, { all }) {
    const openAt = all ? null : await store.dialect.clock(store.db, services.clock.now());
    const read = (before: string | undefined, rows: number) => listSilences(store.db, { openAt, before }, rows);
    return replyList('silence.list', listInBatches(read, silenceView));
  },
});

const add = writeOperation({
  id: 'silence.add',
  causes: { none: 'Its creator is in the row, and so in the chain of the event of its end.' },
  summary: 'Silence one rule or all, for all or some events, for a limited time',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/silences' },
  mcp: NO_AGENT,
  cli: {
    verb: 'silence add',
    examples: [
      'svc silence add --rule disk-full --for 2h --reason "new disks on Monday"',
      `svc silence add --when 'event.labels.instance == "db1"' --for 30m --reason "db1 is moved"`,
    ],
  },
  input: z.strictObject({
    rule: field.name.optional().describe('Rule to silence; default all rules'),
    when: field.as(
      'EXPRESSION',
      z
        .string()
        .min(1, { error: 'expected an expression' })
        .optional()
        .describe('CEL; silence only events for which it is true'),
    ),
    for: field.duration.describe('Duration, such as 2h'),
    reason: z
      .string()
      .trim()
      .min(1, { error: 'expected a reason' })
      .max(REASON_MAX, { error: `expected at most ${REASON_MAX} characters` })
      .describe('Reason, shown with each silenced event'),
  }),
  answers: ['silence.get'],
  failures: ['not_found'],
  async prepare(_context, { rule, when, for: span }) {
    if (rule === undefined && when === undefined)
      throw new Failure('invalid_argument', 'rule, when: expected one of them, or both.');
    if (when !== undefined) await lint(when);
    return spanOf(span);
  },
  async run({ tx, caller, services }, { rule, when, reason }, spanMs) {
    if (rule !== undefined) await holdRule(tx, rule);
    const now = await tx.dialect.clock(tx.db, tx.now);
    const row = await insertSilence(tx, {
      rule: rule ?? null,
      when_text: when ?? null,
      reason,
      created_by: caller.owner,
      created_at: now,
      expires_at: now + spanMs,
    });
    tx.afterCommit(() => services.reaction.rules.forget());
    return written(reply('silence.get', silenceView(row)), row.id, { rule: row.rule });
  },
});

async function lint(when: string): Promise<void> {
  try {
    await compileCondition(when);
  } catch (thrown) {
    if (thrown instanceof CelRefused) throw new Failure('invalid_argument', `when: ${thrown.message}.`);
    throw thrown;
  }
}

function spanOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms <= 0 || ms > FOR_MAX_MS)
    throw new Failure('invalid_argument', 'for: expected a positive duration such as 30m, 2h or 7d, of at most 366d.');
  return ms;
}

const remove = writeOperation({
  id: 'silence.remove',
  causes: { of: 'silence' },
  summary: 'Remove a silence before it expires',
  scopes: OPERATORS,
  http: { method: 'DELETE', path: '/silences/{id}' },
  mcp: NO_AGENT,
  cli: { verb: 'silence remove', positionals: ['id'], examples: ['svc silence remove sil_01m7yd4zyke00anp2z332d2j5p'] },
  input: z.strictObject({ id: field.id('sil') }),
  failures: ['not_found', 'conflict'],
  async run({ tx, services }, { id }) {
    await cutSilence(tx, id, await tx.dialect.clock(tx.db, tx.now));
    tx.afterCommit(() => services.reaction.rules.forget());
    return written(replyNone, id);
  },
});

export const SILENCE_OPERATIONS: readonly Operation[] = [list, add, remove];
