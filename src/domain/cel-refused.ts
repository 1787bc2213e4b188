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
    .map((each) => ({ each, distance: distance(name.toLowerCase(), each.toLowerCase()) }))
    .filter((row) => row.distance <= Math.ceil(Math.min(row.each.length, name.length) / 3) - (row.each.length < 3 ? 1 : 0))
    .toSorted((a, b) => a.distance - b.distance)[0];
  return near === undefined ? '' : `; perhaps "${near.each}" is meant`;
}

/** How many letters to add, drop, replace or swap with the next until one text is the other. */
function distance(from: string, to: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swaps = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = swaps ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
