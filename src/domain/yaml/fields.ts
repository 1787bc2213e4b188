import { didYouMean } from '../cel/refused.ts';
import { Failure } from '../failure.ts';
import type { YamlMap, YamlValue } from './file.ts';

type Place = Pick<YamlValue, 'line' | 'column'>;

/** The refusal of a field of a file, with its line. */
export function refused(field: string, value: Place, what: string): Failure {
  return new Failure('invalid_argument', `${field}${lineOf(value)}: ${what}.`);
}

/** Where a value is, in words that stand behind the name of its field. */
export function lineOf({ line, column }: Place): string {
  return ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
}

/** A number or a boolean is taken as it is written. An empty field is refused: an empty limit would mean all hosts. */
export function textOf(field: string, value: YamlValue): string {
  if (value.kind === 'text' && value.type === 'null') throw refused(field, value, 'expected a value; found none');
  if (value.kind === 'text') return value.text;
  // YAML reads an unquoted ${…} in brackets as a map.
  const hint = value.kind === 'map' ? '; quote a value that holds ${…} or {' : '';
  throw refused(field, value, `expected text${hint}`);
}

/** The value of a field; a refusal names it with `prefix`. */
export function need(map: YamlMap, field: string, prefix = ''): YamlValue {
  const value = map.fields.get(field);
  if (value === undefined) throw refused(`${prefix}${field}`, map, 'this field is required');
  return value;
}

export function refuseOthers(map: YamlMap, known: readonly string[], prefix = ''): void {
  for (const [name, value] of map.fields) {
    if (known.includes(name)) continue;
    const shown = JSON.stringify(name.slice(0, 80));
    const hint = didYouMean(name, known) || `; expected one of ${known.join(', ')}`;
    throw new Failure('invalid_argument', `${prefix}${shown}${lineOf(value)}: no such field here${hint}.`);
  }
}
