import { Failure } from '../failure.ts';

/** The `spec` of a command job. */
export interface CommandSpec {
  readonly inventory: string;
  readonly limit: string | null;
  readonly command: readonly string[];
  readonly egressPorts: readonly number[];
}

/** The inventory that always exists: this machine, without Ansible. */
export const LOCALHOST = 'localhost';

/** Words that a command may have, and bytes of them all: an argument vector beyond this is no ad-hoc command. */
export const COMMAND_WORDS_MAX = 1_000;
export const COMMAND_BYTES_MAX = 131_072;

/** Bytes of an argument vector as a program is given it: each word ends with a NUL. */
export function commandBytes(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
}

/** Throws not_found for an unknown inventory. */
export function requireInventory(inventory: string): void {
  if (inventory !== LOCALHOST)
    throw new Failure('not_found', `The inventory ${JSON.stringify(inventory)} does not exist; expected ${LOCALHOST}.`);
}

/** Throws invalid_argument for a limit that names no host of the inventory; null means no limit. */
export function requireLimit(inventory: string, limit: string | null): void {
  if (limit === null || limit === LOCALHOST || limit === 'all') return;
  throw new Failure(
    'invalid_argument',
    `limit: host ${JSON.stringify(limit)} is not in inventory ${JSON.stringify(inventory)}; expected ${LOCALHOST}.`,
  );
}
