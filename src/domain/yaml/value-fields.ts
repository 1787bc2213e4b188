import type { CelRefused } from '../cel/refused.ts';
import { formatDuration, parseDuration } from '../duration.ts';
import { NAME } from '../name.ts';
import { refused, textOf } from './fields.ts';
import type { YamlMap, YamlValue } from './file.ts';

/** Fields that several files have. A refusal names the field with `prefix` and has its line. */

const DURATION_MIN_MS = 1_000;

/** Null without one. Throws invalid_argument. */
export function nameIn(map: YamlMap, prefix = ''): string | null {
  const value = map.fields.get('name');
  if (value === undefined) return null;
  const name = textOf(`${prefix}name`, value);
  if (!NAME.test(name))
    throw refused(`${prefix}name`, value, 'expected 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit');
  return name;
}

/** In milliseconds; null without one. Throws invalid_argument. */
export function durationIn(map: YamlMap, field: string, maxMs: number, prefix = ''): number | null {
  const value = map.fields.get(field);
  if (value === undefined) return null;
  const ms = parseDuration(textOf(`${prefix}${field}`, value));
  if (ms === null) throw refused(`${prefix}${field}`, value, 'expected a duration such as 30s, 5m or 1h30m');
  if (ms < DURATION_MIN_MS || ms > maxMs)
    throw refused(`${prefix}${field}`, value, `expected at least 1s and at most ${formatDuration(maxMs)}`);
  return ms;
}

/** The refusal of an expression, with the line of the fault if the expression has several lines. */
export function expressionRefused(named: string, value: YamlValue, fault: CelRefused): Error {
  const { offset } = fault;
  const start =
    value.kind === 'text' && offset !== null ? value.starts?.findLast((each) => each.offset <= offset) : undefined;
  if (start === undefined || offset === null) return refused(named, value, fault.message);
  return refused(named, start, `character ${offset - start.offset + 1}: ${fault.what}`);
}
