import { sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import type { RuleAction } from '../../domain/rules/actions.ts';
import type { Rule } from '../../domain/rules/rule.ts';
import { fromJson, toJson } from '../../lib/json.ts';
import { forgetManaged } from '../configuration/managed.ts';
import { countedUp, sumOf } from '../engine/counts.ts';
import type { Tx } from '../engine/tx.ts';
import { checkTag, retagged, tagOf } from '../engine/tags/tags.ts';
import { prepared } from '../engine/prepared.ts';
import { found, insertRow, rowBy } from '../engine/rows.ts';
import type { Db, RuleRow } from '../schema/schema.ts';

/** All of them, by name. */
export function listRules(db: Db): Promise<RuleRow[]> {
  return db.selectFrom('rules').selectAll().orderBy('name').execute();
}

export const findRule = rowBy('rules', 'name');

/** Throws not_found for an unknown name. */
export async function getRule(db: Db, name: string): Promise<RuleRow> {
  return found(await findRule(db, name), 'rule', name);
}

/** Reads and locks it: until this write ends it cannot be changed, removed or silenced by others. Throws not_found. */
export async function holdRule(tx: Tx, name: string): Promise<RuleRow> {
  await tx.dialect.lockKey(tx.db, `rule:${name}`);
  return getRule(tx.db, name);
}

/** A row as the rest of the program takes it. Throws for one that cannot be read. */
export function ruleOf(row: RuleRow): Rule {
  return {
    name: row.name,
    enabled: row.enabled === 1,
    when: row.when_text,
    cooldownMs: row.cooldown_ms,
    approval: row.approval,
    approvalTtlMs: row.approval_ttl_ms,
    action: fromJson(row.action),
    ...(row.one_tap === 1 ? { oneTap: true } : {}),
    owners: fromJson(row.owners),
    summary: row.summary,
    ...(row.bounded_values === 1 ? {} : { isEarlier: true }),
  };
}

/** The rule of a row. One that cannot be read has a fault, which its action says in place of what it did. */
export function readableRule(row: RuleRow): { readonly rule: Rule; readonly fault: string | null } {
  for (const [column, isFit] of READ_COLUMNS)
    if (!isFit(parsed(row[column]))) {
      const fault = `its ${column} in the database cannot be read`;
      const action: RuleAction = { kind: 'notify', message: fault };
      return { rule: ruleOf({ ...row, action: toJson(action), owners: toJson([]) }), fault };
    }
  return { rule: ruleOf(row), fault: null };
}

const READ_COLUMNS: readonly (readonly ['action' | 'owners', (value: unknown) => boolean])[] = [
  ['action', (value) => typeof (value as Partial<RuleAction> | null | undefined)?.kind === 'string'],
  ['owners', (value) => Array.isArray(value) && value.every((owner) => typeof owner === 'string')],
];

/** Undefined for a text that is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of a new rule; the store sets the others. */
export interface NewRule extends Omit<Rule, 'enabled' | 'isEarlier'> {
  readonly addedBy: string;
  /** Not tried on any event until somebody enables it. */
  readonly disabled?: boolean;
}

/** Adds a rule, enabled unless it says otherwise. Throws duplicate for a name that is taken. */
export async function insertRule(tx: Tx, rule: NewRule): Promise<RuleRow> {
  const row: RuleRow = {
    name: rule.name,
    enabled: rule.disabled === true ? 0 : 1,
    ...columnsOf(tx, rule),
    version: 1,
    created_at: tx.now,
    updated_at: tx.now,
    last_fired_at: null,
  };
  if (!(await insertRow(tx.db, 'rules', row, 'skip')))
    throw new Failure(
      'duplicate',
      `name: a rule with the name ${rule.name} already exists; use --replace to replace it.`,
    );
  tx.announce();
  return row;
}

/**
 * Replaces the rule of the same name and its owners. It stays enabled or disabled unless the new one is disabled, and
 * earlier fires still count for its cooldown. Undefined if no rule has the name.
 */
export function replaceRule(tx: Tx, rule: NewRule): Promise<RuleRow | undefined> {
  return change(tx, rule.name, { ...columnsOf(tx, rule), ...(rule.disabled === true ? { enabled: 0 } : {}) });
}

/** Enables or disables it, and adds `owner` to its owners. Throws not_found. */
export async function switchRule(
  tx: Tx,
  name: string,
  { enabled, owner }: { readonly enabled: boolean; readonly owner?: string },
): Promise<RuleRow> {
  const held = await holdRule(tx, name);
  const behind = new Set([...fromJson(held.owners), ...(owner === undefined ? [] : [owner])]);
  const owners = retagged(tx.ring, 'rules', held, { owners: toJson([...behind]) });
  const row = await change(tx, name, { enabled: enabled ? 1 : 0, ...owners });
  return found(row, 'rule', name);
}

/** Removes it with what is remembered of its fires. Throws not_found. */
export async function deleteRule(tx: Tx, name: string): Promise<RuleRow> {
  const deleted = await tx.db.deleteFrom('rules').where('name', '=', name).returningAll().executeTakeFirst();
  await tx.db.deleteFrom('rule_fires').where('rule', '=', name).execute();
  await forgetManaged(tx, 'rule', name);
  tx.announce();
  return found(deleted, 'rule', name);
}

async function change(tx: Tx, name: string, columns: Partial<RuleRow>): Promise<RuleRow | undefined> {
  const row = await tx.db
    .updateTable('rules')
    .set({ ...columns, version: countedUp('version'), updated_at: tx.now })
    .where('name', '=', name)
    .returningAll()
    .executeTakeFirst();
  tx.announce();
  return row;
}

function columnsOf(tx: Tx, rule: NewRule) {
  const columns = {
    when_text: rule.when,
    cooldown_ms: rule.cooldownMs,
    approval: rule.approval,
    approval_ttl_ms: rule.approvalTtlMs,
    action: toJson(rule.action),
    owners: toJson(rule.owners),
    added_by: rule.addedBy,
    one_tap: rule.oneTap === true ? (1 as const) : (0 as const),
    bounded_values: 1 as const,
    summary: rule.summary ?? null,
  };
  return { ...columns, ...tagOf(tx.ring, 'rules', { name: rule.name, ...columns }) };
}

/**
 * Throws forbidden for a rule that was written into the database. `row` was read before: a rule of an earlier build may
 * have got its tag since, and then its content must be what that covers.
 */
export async function checkRule(tx: Tx, row: RuleRow): Promise<void> {
  const isUntagged = row.order_tag === null;
  const tags = tx.db.selectFrom('rules').select(['order_tag', 'order_key_id']).where('name', '=', row.name);
  await checkTag(tx, 'rules', { ...row, ...(isUntagged ? await tags.executeTakeFirst() : {}) });
}

/** Which rule of its name it is, in which form. One that is removed and added again has the version 1 once more. */
interface RuleForm {
  readonly name: string;
  readonly version: number;
  /** Of its content; null in a row of an earlier build. */
  readonly tag: string | null;
}

const fired = prepared<{ now: number } & RuleForm, unknown>((db, value) =>
  db
    .updateTable('rules')
    .set({ last_fired_at: value('now') })
    .where('name', '=', value('name'))
    .where('version', '=', value('version'))
    .where('order_tag', 'is not distinct from', value('tag'))
    .where('enabled', '=', 1),
);

/**
 * Notes that this form of a rule fires now. False when it was changed, disabled or removed since it was read, also
 * where another one has its name now: then it must not fire.
 */
export async function noteFired(tx: Tx, { name, version, tag }: RuleForm): Promise<boolean> {
  return (await fired(tx.db, { now: tx.now, name, version, tag })).changed === 1;
}

const marks = prepared<object, { mark: string | null }>((db) =>
  db.selectFrom('rules').select(
    // A sum of versions alone would not tell a rule from another one that took its place.
    // The first characters of the tags too, which no one else can make: somebody may change versions and times.
    sql<string | null>`cast(count(*) as text) || '/' || ${sumOf('version')} || '/' || ${sumOf('updated_at')} || '/' ||
      string_agg(coalesce(substr(order_tag, 1, 8), ''), ',' order by name)`.as('mark'),
  ),
);

/** A short text that is another one after each change of a rule; what rules fired does not change it. */
export async function rulesMark(db: Db): Promise<string> {
  return (await marks(db, {})).rows[0]?.mark ?? '';
}
