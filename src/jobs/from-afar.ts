import type { Caller } from '../domain/access/caller.ts';
import { Failure } from '../domain/failure.ts';

/** Throws forbidden for what reaches beyond the sandbox, where a caller who is not on the machine asks for it. */
export function refuseFromAfar({ credential }: Pick<Caller, 'credential'>, what: string, command: string): void {
  if (credential === 'local') return;
  throw new Failure(
    'forbidden',
    `${what} reaches beyond the sandbox, so it is run only on the machine itself: ${command}.`,
  );
}
