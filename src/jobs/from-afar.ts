import { Failure } from '../domain/failure.ts';

/** Throws forbidden for what reaches beyond the sandbox, where a caller who is not on the machine asks for it. */
export function refuseFromAfar(isLocal: boolean, what: string, command: string): void {
  if (isLocal) return;
  throw new Failure(
    'forbidden',
    `${what} reaches beyond the sandbox, so it is run only on the machine itself: ${command}.`,
  );
}
