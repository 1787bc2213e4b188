import type * as Cel from '@bufbuild/cel';

/**
 * A value in the form that the library reads: records become maps (the library trips over a plain record that has a
 * field called `constructor`), and whole numbers become integers, as CEL means them. Throws on a value without such a
 * form.
 */
export function celInput(value: unknown): Cel.CelInput {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    case 'object':
      if (value === null) return null;
      if (Array.isArray(value)) return value.map(celInput);
      return new Map(
        Object.entries(value).flatMap(([name, each]) => (each === undefined ? [] : [[name, celInput(each)] as const])),
      );
    case 'undefined':
    case 'function':
    case 'symbol':
      throw new TypeError(`a ${typeof value} has no form in CEL`);
  }
}
