import type * as z from 'zod';
import { readFlag } from '../../../domain/actions/reach.ts';
import type { Entry } from '../../../domain/configuration/change.ts';
import { refuseOthers, textOf } from '../../../domain/yaml/fields.ts';
import type { YamlMap, YamlValue } from '../../../domain/yaml/file.ts';
import { mapOf } from '../../../domain/yaml/json.ts';
import { innerType, parseInput } from '../parse.ts';
import type { Restore } from './section.ts';

/** Reads the fields of an entry, the name aside, by the schema of an operation's input. Throws invalid_argument. */
export function readEntry<I extends z.ZodObject>(schema: I, map: YamlMap, restore: Restore): z.output<I> {
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  refuseOthers(map, ['name', ...Object.keys(shape)]);
  const fields = [...map.fields].flatMap(([field, value]): [string, unknown][] => {
    const type = shape[field];
    return type === undefined ? [] : [[field, plainOf(field, value, type)]];
  });
  return parseInput(schema, restore(Object.fromEntries(fields)));
}

/** A number or a boolean where the field takes one; any other text as it is written: 1.10 is not 1.1. */
function plainOf(field: string, value: YamlValue, schema: z.core.$ZodType): unknown {
  const { type, element } = innerType(schema);
  if (type === 'record' && value.kind === 'map') return mapOf(value);
  if (value.kind === 'list') return value.items.map((item) => plainOf(field, item, element ?? schema));
  const text = textOf(field, value);
  if (value.kind !== 'text' || value.type === 'string') return text;
  if (type === 'number' && value.type === 'other') return Number(text);
  if (type === 'boolean' && value.type === 'boolean') return text.toLowerCase() === 'true';
  return text;
}

/** An entry without what says nothing: undefined, null, false, an empty list or object. */
export function withoutEmpty(fields: Entry): Entry {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** The map with some of its fields. */
export function onlyFields(map: YamlMap, isOne: (field: string) => boolean): YamlMap {
  return { ...map, fields: new Map([...map.fields].filter(([field]) => isOne(field))) };
}

/** The field `enabled`; true without it. Throws invalid_argument. */
export function enabledIn(map: YamlMap): boolean {
  return map.fields.has('enabled') ? readFlag(map, 'enabled', '') : true;
}
