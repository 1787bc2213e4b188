import { Failure } from '../failure.ts';
import { NAME } from '../name.ts';
import { CHECK_KIND_FACTS } from './kinds.ts';
import type { CheckKind } from './check.ts';
import type { TargetSpec } from './kind.ts';

/** Bounds of a check. */
export const CHECK_LIMITS = {
  targets: 10_000,
  /** Of one target: its name, `=` and its specification. */
  targetCharacters: 2_048,
  intervalMs: { min: 1_000, max: 86_400_000 },
  snoozeMs: { min: 1_000, max: 366 * 86_400_000 },
  minDays: 3_650,
  expectBodyBytes: 1_024,
  pointerCharacters: 500,
} as const;

export interface Target extends TargetSpec {
  readonly name: string;
}

/** Reads targets one by one. No message repeats a specification: it may hold a credential. */
export class TargetReader {
  readonly #kind: CheckKind;
  readonly #names = new Set<string>();

  constructor(kind: CheckKind) {
    this.#kind = kind;
  }

  /** Of `NAME=SPEC`. Throws invalid_argument. */
  read(text: string): Target {
    const { form, example, readTarget } = CHECK_KIND_FACTS[this.#kind];
    const fault = (expected: string): Failure =>
      new Failure('invalid_argument', `targets.${this.#names.size}: ${expected}, such as ${example}.`);
    if (text.length > CHECK_LIMITS.targetCharacters)
      throw fault(`expected at most ${CHECK_LIMITS.targetCharacters} characters`);
    const at = text.indexOf('=');
    if (at < 0) throw fault(`expected NAME=${form}`);
    const name = text.slice(0, at);
    if (!NAME.test(name))
      throw fault('expected a name of 1 to 63 of a-z 0-9 . _ -, beginning with a letter or digit, before the first =');
    const read = readTarget(text.slice(at + 1));
    if (read === null) throw fault(`${name}: expected NAME=${form}`);
    // The escaped form is stored, and read again with this bound.
    if (name.length + 1 + read.spec.length > CHECK_LIMITS.targetCharacters)
      throw fault(`${name}: expected at most ${CHECK_LIMITS.targetCharacters} characters after escaping its URL`);
    if (this.#names.has(name)) throw fault(`the name ${name} is used twice; expected a different name for each`);
    this.#names.add(name);
    return { name, ...read };
  }
}
