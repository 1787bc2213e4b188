/** What fetching a source brought. */
export interface FetchedTree {
  /** Of a git source; null for a directory. */
  readonly commit: string | null;
  /** The lifecycle hooks file of the tree, as it is spelt there; null without one. */
  readonly hooksFile: string | null;
}
