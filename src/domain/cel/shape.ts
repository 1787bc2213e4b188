/**
 * What is known of a value before evaluation: its kind, its names, and how large it may reasonably be. Names are
 * checked against it, and the cost of an evaluation is estimated from it.
 */
export type CelShape =
  | { readonly kind: 'bool' | 'number' | 'time' | 'duration' | 'null' }
  | { readonly kind: 'text'; /** Characters to reckon with. */ readonly length: number }
  | { readonly kind: 'list'; /** Expected number of elements. */ readonly count: number; readonly of: CelShape }
  /** Exactly these names, each always present. `what` is its name in messages, such as "an entry". */
  | { readonly kind: 'record'; readonly what: string; readonly fields: Readonly<Record<string, CelShape>> }
  /** Any name, as labels have. */
  | { readonly kind: 'map'; readonly count: number; readonly of: CelShape }
  | { readonly kind: 'unknown'; readonly weight: number };

export const BOOL: CelShape = { kind: 'bool' };
export const NUMBER: CelShape = { kind: 'number' };
/** A shape that gives way to any other, such as that of the elements of an empty list. */
export const NOTHING: CelShape = { kind: 'unknown', weight: 0 };

/** Characters that are compared or copied in the time of one step; generous, so that text seldom decides. */
const TEXT_PER_STEP = 64;

/** How many steps it takes to compare or to copy a value of this shape. May be infinite. */
export function weight(shape: CelShape): number {
  switch (shape.kind) {
    case 'text':
      return 1 + shape.length / TEXT_PER_STEP;
    case 'list':
    case 'map':
      return 1 + shape.count * (1 + weight(shape.of));
    case 'record':
      return Object.values(shape.fields).reduce((sum, field) => sum + weight(field), 1);
    case 'unknown':
      return shape.weight;
    case 'bool':
    case 'number':
    case 'time':
    case 'duration':
    case 'null':
      return 1;
  }
}

/** Kinds whose values are all of one shape. */
const PLAIN: ReadonlySet<CelShape['kind']> = new Set(['bool', 'number', 'time', 'duration', 'null'] as const);

/** The shape of what is one or the other. */
export function join(a: CelShape, b: CelShape): CelShape {
  if (a === b || isNothing(b)) return a;
  if (isNothing(a)) return b;
  if (a.kind === 'text' && b.kind === 'text') return { kind: 'text', length: Math.max(a.length, b.length) };
  if (a.kind === 'list' && b.kind === 'list')
    return { kind: 'list', count: Math.max(a.count, b.count), of: join(a.of, b.of) };
  if (a.kind === b.kind && PLAIN.has(a.kind)) return a;
  return { kind: 'unknown', weight: Math.max(weight(a), weight(b)) };
}

function isNothing(shape: CelShape): boolean {
  return shape.kind === 'unknown' && shape.weight === 0;
}

const WORDS = {
  bool: 'a condition',
  number: 'a number',
  time: 'a time',
  duration: 'a duration',
  null: 'null',
  text: 'a text',
  list: 'a list',
  map: 'a map',
  unknown: 'a value',
};

/** The shape in a word, with its article. */
export function word(shape: CelShape): string {
  return shape.kind === 'record' ? shape.what : WORDS[shape.kind];
}

/** Whether two values may ever be equal: CEL calls a list and a text merely unequal, which hides a mistake. */
export function mayEqual(a: CelShape, b: CelShape): boolean {
  if (a.kind === 'unknown' || b.kind === 'unknown') return true;
  const isMap = (shape: CelShape): boolean => shape.kind === 'record' || shape.kind === 'map';
  return a.kind === b.kind || (isMap(a) && isMap(b));
}
