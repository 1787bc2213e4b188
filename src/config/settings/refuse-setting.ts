import { Failure } from '../../domain/failure.ts';

/** Throws invalid_argument for a setting, with the expected form. */
export function refuseSetting(flag: string, expected: string): never {
  throw new Failure('invalid_argument', `--${flag}: ${expected}.`);
}
