import type { Entry } from '../../domain/configuration/change.ts';
import { Failure } from '../../domain/failure.ts';
import { KEPT } from '../core/kept.ts';
import type { ConfigKind } from './kind.ts';

type Values = Readonly<Record<string, unknown>>;

/** The entry with `[kept]` for each value of the hidden fields of its kind. */
export function hideValues({ hidden = [] }: ConfigKind, entry: Entry): Entry {
  return mapHidden(hidden, entry, () => KEPT);
}

/** The entry with the stored values in place of `[kept]`. Throws invalid_argument where none is stored. */
export function keepValues({ hidden = [] }: ConfigKind, entry: Entry, stored: Entry = {}): Entry {
  return mapHidden(hidden, entry, (value, field, name) => {
    if (value !== KEPT) return value;
    const before = (stored[field] as Values | undefined)?.[name];
    if (before === undefined)
      throw new Failure(
        'invalid_argument',
        `${field}.${name}: ${KEPT} keeps the stored value, and there is no such value; write it.`,
      );
    return before;
  });
}

function mapHidden(
  hidden: readonly string[],
  entry: Entry,
  valueOf: (value: unknown, field: string, name: string) => unknown,
): Entry {
  const fields = hidden.flatMap((field) => {
    const values = entry[field] as Values | undefined;
    if (values === undefined) return [];
    return [[field, Object.fromEntries(Object.entries(values).map(([n, value]) => [n, valueOf(value, field, n)]))]];
  });
  return fields.length === 0 ? entry : { ...entry, ...Object.fromEntries(fields) };
}
