import { Failure } from '../domain/failure.ts';

/** Throws invalid_argument for a setting, with what was expected. */
export function refuseSetting(flag: string, expected: string): never {
  throw new Failure('invalid_argument', `--${flag}: ${expected}.`);
}
