import type { Entry } from '../../../domain/configuration/change.ts';
import { Failure } from '../../../domain/failure.ts';
import { KEPT } from './kept.ts';
import type { Credentials } from './section.ts';

type Values = Readonly<Record<string, unknown>>;

/** A field of names and values, each of which may be a credential. */
export function hiddenValues(field: string): Credentials {
  return {
    hide: (entry) => mapValues(entry, field, () => KEPT),
    keep: (entry, stored) =>
      mapValues(entry, field, (value, name) => {
        if (value !== KEPT) return value;
        const before = (stored[field] as Values | undefined)?.[name];
        if (before !== undefined) return before;
        throw new Failure(
          'invalid_argument',
          `${field}.${name}: ${KEPT} keeps the stored value, and there is no such value; write it.`,
        );
      }),
  };
}

function mapValues(entry: Entry, field: string, valueOf: (value: unknown, name: string) => unknown): Entry {
  const values = entry[field] as Values | undefined;
  if (values === undefined) return entry;
  const mapped = Object.entries(values).map(([name, value]) => [name, valueOf(value, name)] as const);
  return { ...entry, [field]: Object.fromEntries(mapped) };
}
