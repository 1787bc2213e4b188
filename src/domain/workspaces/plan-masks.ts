import { deeper, type ExactNumber, isObject, type Leaf, memberOf } from './plan-json.ts';

/**
 * A mask marks the parts of a value that are sensitive, or known only after the apply: `true` for all of it, `false`
 * for none, or a list or map of masks of the same shape as the value, where a missing member marks nothing.
 */

/** The mask of one attribute of a resource. Anything that is not a mask counts as `true`: fail closed. */
export function maskOf(mask: unknown, attribute: string): unknown {
  if (mask === false) return false;
  if (!isObject(mask)) return true;
  return Object.hasOwn(mask, attribute) ? mask[attribute] : false;
}

/** Whether `mask` has the shape of `value`, one level deep. A missing value has no known shape. */
export function fits(value: unknown, mask: unknown): boolean {
  if (typeof mask === 'boolean' || mask === undefined || value === undefined || value === null) return true;
  if (Array.isArray(value)) return Array.isArray(mask) && mask.length === value.length;
  return isObject(value) && isObject(mask);
}

/** Whether a part is marked. What isn't a mask is. */
export function marksAny(mask: unknown, depth = 0): boolean {
  if (mask === undefined || mask === null || typeof mask === 'boolean') return mask === true;
  if (Array.isArray(mask)) return mask.some((element) => marksAny(element, deeper(depth)));
  if (isObject(mask)) return Object.keys(mask).some((key) => marksAny(mask[key], deeper(depth)));
  return true;
}

/** Calls `found` with each leaf of `value` that `mask` marks. Where the mask doesn't fit, all leaves are. */
export function eachMasked(value: unknown, mask: unknown, found: (leaf: Leaf) => void, depth = 0): void {
  if (value === undefined || value === null || mask === false || mask === undefined) return;
  if (mask === true || !fits(value, mask)) {
    eachLeaf(value, found, depth);
  } else if (Array.isArray(value)) {
    for (const [i, element] of value.entries()) eachMasked(element, (mask as unknown[])[i], found, deeper(depth));
  } else {
    for (const key of Object.keys(mask as object))
      eachMasked(memberOf(value, key), memberOf(mask, key), found, deeper(depth));
  }
}

/** Calls `found` with each leaf of `value`; keys of maps are not leaves. */
export function eachLeaf(value: unknown, found: (leaf: Leaf) => void, depth = 0): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) for (const element of value) eachLeaf(element, found, deeper(depth));
  else if (isObject(value)) for (const key of Object.keys(value)) eachLeaf(value[key], found, deeper(depth));
  else found(value as string | number | boolean | ExactNumber);
}
