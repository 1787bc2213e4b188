/** The `spec` of a command job. */
export interface CommandSpec {
  readonly inventory: string;
  readonly limit: string | null;
  /** The limit is a value of an event: it must be one host. Left out where it is not. */
  readonly isOfEvent?: boolean | undefined;
  readonly command: readonly string[];
  readonly egressPorts: readonly number[];
  /** Its author hides the words from who decides. */
  readonly reveal?: false | undefined;
  /** Directories of this machine that the job may write. Left out without any. */
  readonly writable?: readonly string[] | undefined;
}

/** Words that a command may have, and bytes of them all: an argument vector beyond this is no ad-hoc command. */
export const COMMAND_WORDS_MAX = 1_000;
export const COMMAND_BYTES_MAX = 131_072;

/** Bytes of an argument vector as a program is given it: each word ends with a NUL. */
export function commandBytes(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
}
