import { Failure } from '../failure.ts';

/** Characters of a name or a value that a refusal repeats. */
const SHOWN_CHARACTERS_MAX = 80;

/** The refusal of a part of an inventory file. `what` is a sentence without its full stop. */
export function refusedAt(line: number, what: string): Failure {
  return new Failure('invalid_argument', `file, line ${line}: ${what}.`);
}

/** A name that a user gave, in a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_CHARACTERS_MAX));
}
