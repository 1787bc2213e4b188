/** Where the files of a running program are, and whose account runs it. */
export interface ProgramFiles {
  /** Absolute; holds package.json, `bin`, `migrations`, and the code. */
  readonly root: string;
  /** The first file: in `src` of a checkout, or in `dist` of a bundle. */
  readonly main: string;
  /** The Node that runs it. */
  readonly executable: string;
  /** The user number of the account. */
  readonly uid: number;
}
