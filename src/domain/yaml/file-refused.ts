import { Failure } from '../failure.ts';

/** Where a part begins. */
export interface Place {
  readonly line: number;
  readonly column?: number;
}

/** The refusal of a file, with the place of what is wrong in it. */
export function fileRefused(what: string, place?: Place): Failure {
  const at = place === undefined ? '' : `, line ${place.line}`;
  const column = place?.column === undefined ? '' : `, column ${place.column}`;
  return new Failure('invalid_argument', `file${at}${column}: ${what}.`);
}
