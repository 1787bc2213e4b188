export const SOURCE_KINDS = ['git', 'dir'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** What fetching a source brought. */
export interface FetchedTree {
  /** Of a git source; null for a directory. */
  readonly commit: string | null;
  /** Of a directory: what it is, for the column, with what that has of other machines. Null for a git source. */
  readonly dirKept: string | null;
}
