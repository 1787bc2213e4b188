import { need, textOf } from '../yaml/fields.ts';
import type { YamlMap, YamlValue } from '../yaml/file.ts';
import type { Fill } from './field.ts';

/** What a rule file says of one kind of action. Each kind has a row in `rules/actions.ts`. */
export interface RuleActionRow<Fields> {
  /** The fields beside the one that names the kind. */
  readonly others: readonly string[];
  /** Reads them; `value` is that of the field that names the kind. Throws invalid_argument. */
  read(map: YamlMap, value: YamlValue): Fields;
  /** The fields of a rule file that are read as these. */
  write(fields: Fields): Readonly<Record<string, unknown>>;
  /**
   * Checks them, with their expressions; `isEarlier` for those of a rule that an earlier build stored. What it answers
   * makes them anew from the values of an event. Throws ActionRefused.
   */
  compile(fields: Fields, isEarlier: boolean): Promise<(fill: Fill) => Fields>;
}

export const ACTION_PREFIX = 'action.';

/** An optional text of a rule file. */
export function given(field: string, text: string | null): Readonly<Record<string, string>> {
  return text === null ? {} : { [field]: text };
}

export function requiredText(map: YamlMap, field: string): string {
  return textOf(`${ACTION_PREFIX}${field}`, need(map, field, ACTION_PREFIX));
}

export function optionalText(map: YamlMap, field: string): string | null {
  const value = map.fields.get(field);
  return value === undefined ? null : textOf(`${ACTION_PREFIX}${field}`, value);
}
