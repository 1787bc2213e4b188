export const SOURCE_KINDS = ['git', 'dir'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** What the files of a source depend on, where it is on this machine. */
export interface Dependencies {
  /** Has the folders `collections` and `roles` for Ansible, and `providers`: a run reads them where they are. */
  readonly path: string;
  readonly hasProviders: boolean;
  /** What the output of a run says of them: its directory has a copy of the source. */
  notes(runDir: string): Promise<readonly string[]>;
}

/** What fetching a source brought. */
export interface FetchedTree {
  /** Of a git source; null for a directory. */
  readonly commit: string | null;
  /** Of a directory: what it is, for the column, with what that has of other machines. Null for a git source. */
  readonly dirKept: string | null;
}
