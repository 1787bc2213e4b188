import type { Display } from './display.ts';
import { inline } from './safe.ts';
import { sheet, table, type Text } from './blocks.ts';
import { absolute, relative } from './time.ts';

type Thing = Readonly<Record<string, unknown>>;

/** Any view without its own rendering: a list as a table, one thing as names and values. */
export function generic(data: unknown, display: Display): Text {
  if (Array.isArray(data)) return list(data, display);
  if (isThing(data))
    return sheet(Object.entries(data).map(([name, value]) => [title(name), show(name, value, display, absolute)]));
  return `${inline(asText(data))}\n`;
}

function list(data: readonly unknown[], display: Display): Text {
  const things = data.filter(isThing);
  if (things.length < data.length) return data.map((item) => `${inline(asText(item))}\n`).join('');
  const names = [...new Set(things.flatMap((thing) => Object.keys(thing)))];
  const columns = names.map((name) => ({
    title: title(name).toUpperCase(),
    cell: (thing: Thing) => show(name, thing[name], display, relative),
    ...(isId(name) ? {} : { mayCut: true as const }),
  }));
  return table(things, 'None.', columns);
}

function isThing(value: unknown): value is Thing {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(name: string): boolean {
  return name === 'id' || name.endsWith('_id') || name === 'name';
}

function title(name: string): string {
  const words = name.replace(/_at$/, '').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function show(
  name: string,
  value: unknown,
  display: Display,
  time: (at: string | null, nowMs: number) => string,
): string {
  if (name.endsWith('_at') && (typeof value === 'string' || value === null)) return time(value, display.nowMs);
  return asText(value);
}

function asText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return value.length === 0 ? '-' : value.join(', ');
  return JSON.stringify(value);
}
