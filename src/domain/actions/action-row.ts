import type { Subject } from '../events/causes.ts';
import { need, textOf } from '../yaml/fields.ts';
import type { YamlMap, YamlValue } from '../yaml/file.ts';
import type { Fill } from './field.ts';

type FieldSchema = Readonly<Record<string, unknown>>;

export const FLAG: FieldSchema = { type: 'boolean' };
export const SCALARS: FieldSchema = { type: 'array', items: { type: ['string', 'number', 'boolean'] } };

/** How a file describes one kind of action. Each kind has a row in `rules/actions.ts`. */
export interface RuleActionRow<Fields> {
  /** False for one that no step of a workflow has: it makes no job. */
  readonly isStep?: false;
  /** The fields beside the one that names the kind. */
  readonly others: readonly string[];
  /** JSON Schema of its fields that are no plain text. Kinds that share a field say the same of it. */
  readonly schemas?: Readonly<Record<string, FieldSchema>>;
  /**
   * Reads them; `value` is that of the field that names the kind. Throws invalid_argument, which names a field with
   * `prefix`.
   */
  read(map: YamlMap, value: YamlValue, prefix: string): Fields;
  /** The fields of a file that are read as these. */
  write(this: void, fields: Fields): Readonly<Record<string, unknown>>;
  /** The stored things that it names: a job of it may be refused because one of them was changed (T84). */
  subjects(this: void, fields: Fields): readonly Subject[];
  /**
   * Checks the fields and their expressions; `isEarlier` marks a rule that an earlier build stored. The returned
   * function fills the fields with the values of an event. Throws ActionRefused.
   */
  compile(fields: Fields, isEarlier: boolean): Promise<(fill: Fill) => Fields>;
  /** Of a rule that an earlier build stored: which values may be refused now, as a sentence; null without any. */
  mayRefuse?(fields: Fields): Promise<string | null>;
}

/** Before the fields of the action of a rule. */
export const ACTION_PREFIX = 'action.';

/** An optional text of a file. */
export function given(field: string, text: string | null): Readonly<Record<string, string>> {
  return text === null ? {} : { [field]: text };
}

export function requiredText(map: YamlMap, field: string, prefix = ACTION_PREFIX): string {
  return textOf(`${prefix}${field}`, need(map, field, prefix));
}

export function optionalText(map: YamlMap, field: string, prefix = ACTION_PREFIX): string | null {
  const value = map.fields.get(field);
  return value === undefined ? null : textOf(`${prefix}${field}`, value);
}
