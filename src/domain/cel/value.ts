import type * as Cel from '@bufbuild/cel';

/**
 * A value in the form that the library reads: records become maps (the library trips over a plain record that has a
 * field called `constructor`), and whole numbers become integers, as CEL means them. Throws on a value without such a
 * form.
 */
export function celInput(value: unknown): Cel.CelInput {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint')
    return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celInput);
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} has no form in CEL`);
  return new Map(
    Object.entries(value).flatMap(([name, each]) => (each === undefined ? [] : [[name, celInput(each)] as const])),
  );
}
