import type { YamlMap, YamlValue } from './file.ts';

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
