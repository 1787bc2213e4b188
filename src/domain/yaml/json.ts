import type { YamlMap, YamlValue } from './file.ts';

/** The place of values that are in no file. */
const NOWHERE = { line: 1 } as const;

/** Data of JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The fields of a map as they are written in a file of YAML. */
export function mapOf({ fields }: YamlMap): Record<string, Json> {
  return Object.fromEntries([...fields].map(([key, value]) => [key, jsonOf(value)]));
}

export function jsonOf(value: YamlValue): Json {
  if (value.kind === 'map') return mapOf(value);
  if (value.kind === 'list') return value.items.map(jsonOf);
  if (value.type === 'null') return null;
  if (value.type === 'boolean') return value.text.toLowerCase() === 'true';
  const number = value.type === 'other' ? Number(value.text) : Number.NaN;
  // 1.10 is a number for YAML and most often a version: what would be written in another way stays a text.
  return Number.isFinite(number) && String(number) === value.text ? number : value.text;
}

/** The fields as a file has them in which each text is quoted. */
export function yamlOf(fields: Readonly<Record<string, unknown>>): YamlMap {
  return {
    kind: 'map',
    ...NOWHERE,
    fields: new Map(Object.entries(fields).map(([name, value]) => [name, yamlValueOf(value)])),
  };
}

function yamlValueOf(value: unknown): YamlValue {
  if (Array.isArray(value)) return { kind: 'list', ...NOWHERE, items: value.map(yamlValueOf) };
  if (typeof value === 'object' && value !== null) return yamlOf({ ...value });
  if (typeof value === 'string') return { kind: 'text', ...NOWHERE, text: value, type: 'string', isPlain: false };
  const type = value === null || value === undefined ? 'null' : typeof value === 'boolean' ? 'boolean' : 'other';
  return { kind: 'text', ...NOWHERE, text: String(value), type, isPlain: true };
}
