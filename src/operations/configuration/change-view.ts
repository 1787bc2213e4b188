import { rfc3339 } from '../../lib/clock.ts';
import { changesSince, type LedgerChange } from '../../store/configuration/managed.ts';
import type { Context } from '../core/operation.ts';
import type { ViewData } from '../views/views.ts';
import { CONFIG_KINDS } from './kinds.ts';
import type { Change } from './plan.ts';

/** Longer values are cut. */
const VALUE_CHARACTERS_MAX = 400;

type ChangeView = ViewData<'config.diff'>['changes'][number];

/** By object, the last change of the ledger to each that was changed since a file was applied. */
export async function changesByHand(
  { store }: Context,
  changes: readonly Change[],
): Promise<ReadonlyMap<Change, LedgerChange | null>> {
  const byHand = changes.flatMap((each) => (each.changedSince === null ? [] : [{ each, since: each.changedSince }]));
  if (byHand.length === 0) return new Map();
  const since = Math.min(...byHand.map((each) => each.since));
  const words = new Set(byHand.map(({ each }) => CONFIG_KINDS[each.section].word));
  const operations = [...words].flatMap((word) => WRITES.map((verb) => `${word}.${verb}`));
  const rows = await changesSince(store.db, since, operations);
  return new Map(
    byHand.map(({ each, since: after }) => [
      each,
      rows.find(({ at, target, operation }) => at > after && target === each.name && isOf(each, operation)) ?? null,
    ]),
  );
}

/** The verbs that change a definition. */
const WRITES = ['add', 'set', 'update', 'enable', 'disable', 'remove'];

function isOf({ section }: Change, operation: string): boolean {
  return operation.startsWith(`${CONFIG_KINDS[section].word}.`);
}

export function changeViews(
  changes: readonly Change[],
  byHand: ReadonlyMap<Change, LedgerChange | null>,
): ChangeView[] {
  return changes.map((each) => ({
    change: each.change,
    kind: CONFIG_KINDS[each.section].word,
    name: each.name,
    line: each.entry?.map.line ?? null,
    fields: each.fields.map(({ field, from, to }) => ({ field, from: shown(from), to: shown(to) })),
    by_hand: byHandView(byHand.get(each)),
  }));
}

function byHandView(row: LedgerChange | null | undefined): ChangeView['by_hand'] {
  if (row === undefined) return null;
  if (row === null) return { principal: null, operation: null, at: null };
  return { principal: row.principal, operation: row.operation, at: rfc3339(row.at) };
}

function shown(value: unknown): string | null {
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
}
