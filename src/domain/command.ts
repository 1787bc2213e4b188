/** What a command job's `spec` holds. */
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
