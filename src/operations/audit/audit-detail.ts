import { BECAUSE_MAX } from '../../domain/jobs/job.ts';
import { fromJson, type Json } from '../../lib/json.ts';
import type { Audited } from '../area.ts';

/** Longer texts are cut. A name has at most 63 characters, an id 30, a digest 64. */
const TEXT_CHARS_MAX = BECAUSE_MAX;
/** Of all operations: those that order have it. */
const OF_ALL = ['because'];

type Value = string | number | boolean | null | string[];

/** The shown part of a stored detail. */
export function shownDetail(
  audited: Audited,
  operation: string,
  stored: Json<Readonly<Record<string, unknown>>>,
): Record<string, Value> {
  const own = Object.hasOwn(audited, operation) ? (audited[operation] ?? []) : [];
  const fields = [...own, ...OF_ALL];
  const detail = fromJson(stored);
  return Object.fromEntries(
    fields.flatMap((name): [string, Value][] => {
      const value = shownValue(detail[name]);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function shownValue(value: unknown): Value | undefined {
  if (typeof value === 'string') return value.slice(0, TEXT_CHARS_MAX);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (!Array.isArray(value)) return undefined;
  return value.filter((each) => typeof each === 'string').map((each) => each.slice(0, TEXT_CHARS_MAX));
}
