import { editDistance } from '../lib/edit-distance.ts';

/** An expression that is not accepted. The message names the place, what is wrong and, where one is known, the cure. */
export class CelRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CelRefused';
  }
}

/** Longer names than this are not compared: nobody mistypes one into the other. */
const NAME_MAX = 40;

/** The name that was probably meant, as `; perhaps "x" is meant`, or an empty text where none is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  if (name.length > NAME_MAX) return '';
  const near = known
    .map((each) => ({ each, distance: editDistance(name.toLowerCase(), each.toLowerCase()) }))
    .filter((row) => row.distance <= Math.ceil(Math.min(row.each.length, name.length) / 3) - (row.each.length < 3 ? 1 : 0))
    .toSorted((a, b) => a.distance - b.distance)[0];
  return near === undefined ? '' : `; perhaps "${near.each}" is meant`;
}
