import { Failure } from '../../../domain/failure.ts';
import { editDistance } from '../../../lib/edit-distance.ts';

/** The command line itself was wrong: `invalid_argument`, with a hint for people that names the help to read. */
export class UsageFailure extends Failure {
  readonly peopleHint: string;

  constructor(message: string, peopleHint: string) {
    super('invalid_argument', message);
    this.peopleHint = peopleHint;
  }
}

/** With more edits than this, a name counts as another name and not as a typing error. */
const EDITS_MAX = 2;

/** ` Did you mean "list"?` where one of `names` is near to `word`, else nothing. */
export function didYouMean(word: string, names: readonly string[]): string {
  const near = names
    // Names are short; a long word is not a typing error, and comparing it would be slow.
    .filter((name) => name.startsWith(word) || Math.abs(name.length - word.length) <= EDITS_MAX)
    .map((name) => ({ name, edits: name.startsWith(word) && word.length >= 2 ? 0 : editDistance(word, name) }))
    .filter(({ name, edits }) => edits <= Math.min(EDITS_MAX, Math.floor(name.length / 2)))
    .toSorted((a, b) => a.edits - b.edits)[0];
  return near === undefined ? '' : ` Did you mean "${near.name}"?`;
}
