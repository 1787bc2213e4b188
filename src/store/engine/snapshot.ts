/**
 * A consistent copy of the whole database, made while others write: what was committed when it began, and nothing
 * later. It holds up no writer.
 */
export type Snapshot = SnapshotFile | SnapshotProgram;

/** The form of a copy. Only a database of the same kind can take it. */
export type SnapshotFormat = 'sqlite' | 'postgres';

/** What a copy holds. */
export interface SnapshotFacts {
  /** The number of its newest migration. */
  readonly schema: number;
  readonly jobs: number;
  /** The last row of each chain of the audit ledger. */
  readonly heads: readonly { readonly chain: string; readonly seq: number; readonly hash: string }[];
}

/** The store makes the copy itself. */
interface SnapshotFile {
  readonly by: 'store';
  /**
   * Writes it to a new file, and checks it. Rejects with an Error that says why, and with the reason of the signal; the
   * file may be there then.
   */
  copyTo(file: string, signal: AbortSignal): Promise<SnapshotFacts>;
}

/** A program makes the copy. */
interface SnapshotProgram {
  readonly by: 'program';
  readonly facts: SnapshotFacts;
  /** What else the program needs than to be there, in words: it may be too old for the server. */
  readonly needs: string;
  readonly argv: (file: string) => readonly string[];
  /** Holds the password, if there is one. */
  readonly environment: Readonly<Record<string, string>>;
  /** After the program has ended. */
  close(): Promise<void>;
}
