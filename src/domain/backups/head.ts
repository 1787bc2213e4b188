/** What a backup says about itself: the sealed head of its file. */
export interface BackupHead {
  /** The form of the copy of the store; the content of the file. */
  readonly format: string;
  readonly id: string;
  readonly job_id: string;
  readonly name: string;
  /** When its copy began, in milliseconds since the epoch. */
  readonly created_at: number;
  /** The build that made it. */
  readonly version: string;
  /** The number of the newest migration of the store. */
  readonly schema: number;
  /** How many jobs the store holds. */
  readonly jobs: number;
  /** The last row of each chain of the audit ledger. */
  readonly heads: readonly { readonly chain: string; readonly seq: number; readonly hash: string }[];
}

const TEXTS = ['format', 'id', 'job_id', 'name', 'version'] as const satisfies readonly (keyof BackupHead)[];
const NUMBERS = ['created_at', 'schema', 'jobs'] as const satisfies readonly (keyof BackupHead)[];

/** Null for what no backup begins with. The head was sealed: only a build with other fields makes such a one. */
export function readBackupHead(head: unknown): BackupHead | null {
  if (typeof head !== 'object' || head === null) return null;
  const fields = head as Readonly<Record<string, unknown>>;
  const isWhole =
    TEXTS.every((name) => typeof fields[name] === 'string') &&
    NUMBERS.every((name) => Number.isSafeInteger(fields[name])) &&
    Array.isArray(fields['heads']);
  return isWhole ? (head as BackupHead) : null;
}
