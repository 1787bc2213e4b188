import { fromJson, type Json } from '../../lib/json.ts';
/** What a request is about besides its order, as it was when it was asked for: JSON in a column of its job. */
export interface Pinned {
  /** The commit of its git source: the run uses that one, whatever the source was moved to. */
  readonly commit?: string;
  /**
   * SHA-256, hex, of the settings of each thing that it names, by `<kind> <name>`. Empty for one that was gone, or that
   * somebody had changed in the database: nothing is the same as that.
   */
  readonly settings: Readonly<Record<string, string>>;
  /** Of the directory that its run copies; absent where it copies none, and in requests of earlier builds. */
  readonly files?: PinnedFiles;
}

/** The files of a directory, which are read after the request was written: reading takes time. */
export type PinnedFiles =
  | { readonly is: 'unread' }
  /** SHA-256, hex, as the copy of a run has it. */
  | { readonly is: 'read'; readonly digest: string }
  /** `why` is a sentence. */
  | { readonly is: 'unreadable'; readonly why: string };

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** Of a job whose tag was checked; null where nothing was pinned. */
export function readPinned(column: Json<Pinned> | null): Pinned | null {
  return column === null ? null : fromJson(column);
}

/** For a view, which may read a row that somebody has changed. */
export function shownCommit(column: Json<Pinned> | null): string | undefined {
  if (column === null) return undefined;
  try {
    const { commit }: { readonly commit?: unknown } = fromJson(column);
    return typeof commit === 'string' && COMMIT.test(commit) ? commit : undefined;
  } catch {
    return undefined;
  }
}
