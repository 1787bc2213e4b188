import type { BigIntStats, Stats } from 'node:fs';
import type { OpenFile } from './open-file.ts';

/**
 * Folders of a run, each held open by a descriptor. Programs of the run may exchange any name below the run directory
 * at any time, also after their job has ended. A path through such names is therefore never used: an entry is addressed
 * by the descriptor of its folder and one name, and the last name is never followed when it is a link.
 *
 * An operation on an entry must have settled before its folder is closed: the number of a closed descriptor is used
 * again, for another folder.
 */

/** One name of a folder. A name that is not UTF-8 is a Buffer. */
export type Name = string | Buffer;

export interface Entry {
  readonly name: Buffer;
  /** A hint: the entry may be exchanged at once, and some file systems do not tell. */
  readonly isFolder: boolean;
}

export interface Folder extends AsyncDisposable {
  readonly fd: number;
  /** The number of entries that `drop` takes. */
  readonly dropsAtOnce: number;
  /** Opens a folder in it. Rejects with ENOTDIR for a link and for anything else. */
  folder(name: Name): Promise<Folder>;
  /** Opens a file in it; never a link, and never waits for the other end of a pipe. */
  file(name: Name, flags: number, mode?: number): Promise<OpenFile>;
  stats(): Promise<Stats>;
  setMode(mode: number): Promise<void>;
  /** Of an entry, also of a link. */
  statsOf(name: Name): Promise<BigIntStats>;
  /** The text of a link. */
  linkText(name: Name): Promise<string>;
  makeFolder(name: Name, mode: number): Promise<void>;
  /** Removes anything but a folder. */
  unlink(name: Name): Promise<void>;
  /** Removes an empty folder. */
  removeFolder(name: Name): Promise<void>;
  /** Removes files and empty folders, by the hint of each entry. The codes of the errors, null for a removed entry. */
  drop(entries: readonly Entry[]): Promise<(string | null)[]>;
  /** Moves an entry to another folder of the same kind. */
  move(name: Name, to: Folder, newName: Name): Promise<void>;
  /** Its entries, read lazily. */
  entries(): AsyncGenerator<Entry>;
}
