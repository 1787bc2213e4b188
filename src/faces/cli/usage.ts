import { Failure } from '../../domain/failure.ts';

/** The command line itself was wrong: `invalid_argument`, with a hint for people that names the help to read. */
export class UsageFailure extends Failure {
  readonly peopleHint: string;

  constructor(message: string, peopleHint: string) {
    super('invalid_argument', message);
    this.peopleHint = peopleHint;
  }
}

/** Beyond this many edits a name is another name, not a slip. */
const EDITS_MAX = 2;

/** ` Did you mean "list"?` where one of `names` is near to `word`, else nothing. */
export function didYouMean(word: string, names: readonly string[]): string {
  const near = names
    .map((name) => ({ name, edits: name.startsWith(word) && word.length >= 2 ? 0 : editDistance(word, name) }))
    .filter(({ name, edits }) => edits <= Math.min(EDITS_MAX, Math.floor(name.length / 2)))
    .toSorted((a, b) => a.edits - b.edits)[0];
  return near === undefined ? '' : ` Did you mean "${near.name}"?`;
}

/** Insertions, deletions, replacements, and swaps of neighbours, which are the commonest slip. */
function editDistance(a: string, b: string): number {
  // Names are short; a long word is no slip of one, and the table would grow with it.
  if (Math.abs(a.length - b.length) > EDITS_MAX) return EDITS_MAX + 1;
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i += 1) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity;
      rows[i]?.push(Math.min(replaced, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1));
    }
  }
  return at(a.length, b.length);
}
