import { writesOf } from '../../domain/configuration/change.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { changesSince, type LedgerChange } from '../../store/configuration/managed.ts';
import type { Context } from '../core/operation.ts';
import type { ViewData } from '../../views/views.ts';
import type { Change } from './plan.ts';

/** Longer texts are cut. */
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
  const words = new Set(byHand.map(({ each }) => each.section.word));
  const operations = [...words].flatMap(writesOf);
  const rows = await changesSince(store.db, since, operations);
  return new Map(
    byHand.map(({ each, since: after }) => [
      each,
      rows.find(({ at, target, operation }) => at > after && target === each.name && isOf(each, operation)) ?? null,
    ]),
  );
}

function isOf({ section }: Change, operation: string): boolean {
  return operation.startsWith(`${section.word}.`);
}

export function changeViews(
  changes: readonly Change[],
  byHand: ReadonlyMap<Change, LedgerChange | null>,
): ChangeView[] {
  return changes.map((each) => ({
    change: each.change,
    kind: each.section.word,
    name: each.name,
    line: each.entry?.map.line ?? null,
    fields: (each.change === 'change' ? each.fields : []).map(({ field, from, to }) => ({
      field,
      ...shown(textOf(from), textOf(to)),
    })),
    by_hand: byHandView(byHand.get(each)),
  }));
}

function byHandView(row: LedgerChange | null | undefined): ChangeView['by_hand'] {
  if (row === undefined) return null;
  if (row === null) return { principal: null, operation: null, at: null };
  return { principal: row.principal, operation: row.operation, at: rfc3339(row.at) };
}

/** As a file has it. */
export function textOf(value: unknown): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A long text from the line of the first difference on: the beginning of a file is most often the same. */
function shown(from: string | null, to: string | null): { from: string | null; to: string | null } {
  const isLong = [from, to].some((text) => text !== null && text.length > VALUE_CHARACTERS_MAX);
  const start = isLong && from !== null && to !== null ? firstOther(from, to) : 0;
  const cut = (text: string): string => {
    const part = text.slice(start, start + VALUE_CHARACTERS_MAX);
    return `${start > 0 ? '…' : ''}${part}${start + part.length < text.length ? '…' : ''}`;
  };
  return { from: from === null ? null : cut(from), to: to === null ? null : cut(to) };
}

/** Where the first line begins in which two texts differ. */
function firstOther(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return one.slice(0, at).lastIndexOf('\n') + 1;
}
