/** A value that a field does not take. The message begins with the field. */
export class ActionRefused extends Error {
  readonly field: string;
  readonly what: string;
  /** Which word of a command is refused, from 0; null where it is not one word. */
  readonly word: number | null;

  constructor(field: string, fault: string, word: number | null = null) {
    const what = word === null ? fault : `word ${word + 1}: ${fault}`;
    super(`${field}: ${what}`);
    this.name = 'ActionRefused';
    this.field = field;
    this.what = what;
    this.word = word;
  }
}
