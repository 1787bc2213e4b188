import { Failure } from '../failure.ts';

/** Directories that a person named, and how a later run recognises each. */

/** What a directory is, besides its path. */
export interface DirectoryIdentity {
  /** Decimal: both may have more digits than a number holds. */
  readonly device: string;
  readonly inode: string;
  /** The user. */
  readonly owner: number;
  /** The boot of the machine: many file systems get another device with the next one. */
  readonly boot: string;
}

/** Where the files of a run come from. */
export interface Tree {
  readonly path: string;
  /** Null for a folder of the service, which only the service can exchange. */
  readonly named: NamedDirectory | null;
  /** Of a run that was approved with these files: its copy must have this digest, or it ends with this message. */
  readonly approved?: { readonly digest: string; readonly change: string };
}

interface NamedDirectory {
  readonly identity: DirectoryIdentity;
  readonly words: DirectoryWords;
  /** For the column, where nothing was kept for this machine yet; null where there was. */
  readonly toKeep: string | null;
}

/** Whose directory it is, and what accepts a change of it. */
export interface DirectoryWords {
  readonly subject: string;
  /** Accepts another directory or owner. */
  readonly accept: string;
  /** Names the directory by another path. */
  readonly rename: string;
}

export function sourceWords(name: string): DirectoryWords {
  return {
    subject: `source ${name}`,
    accept: `svc source sync ${name}`,
    rename: `svc source add ${name} --dir DIR --replace`,
  };
}

export function workspaceWords(name: string): DirectoryWords {
  const update = `svc workspace update ${name} --dir DIR`;
  return { subject: `workspace ${name}`, accept: update, rename: update };
}

const ASK_AGAIN = 'ask for a new run with --dir DIR';
/** Of a run that was asked for with a directory. */
export const RUN_WORDS: DirectoryWords = { subject: 'this run', accept: ASK_AGAIN, rename: ASK_AGAIN };

/** How a directory differs from the one that was named. */
type DirectoryChange = 'link' | 'another' | { readonly owner: number; readonly before: number };

/**
 * Null where it is the same one. Within one boot the device counts too. After another boot the inode and the owner do:
 * without links in its path, a directory on another device is one that root has mounted.
 */
export function changeOf(kept: DirectoryIdentity, found: DirectoryIdentity): DirectoryChange | null {
  if (kept.inode !== found.inode || (kept.boot === found.boot && kept.device !== found.device)) return 'another';
  return kept.owner === found.owner ? null : { owner: found.owner, before: kept.owner };
}

/** The refusal. It does not have the path, which the output of a job would show. */
export function changedDirectory({ subject, accept, rename }: DirectoryWords, change: DirectoryChange): Failure {
  const begin = `The directory of ${subject} is not the one that was named:`;
  const end = `Nothing of it is used. If this change is yours: ${change === 'link' ? rename : accept}`;
  if (change === 'link') return new Failure('conflict', `${begin} its path leads through a symbolic link. ${end}`);
  if (change === 'another') return new Failure('conflict', `${begin} another folder is at its path now. ${end}`);
  const { owner, before } = change;
  return new Failure('conflict', `${begin} its owner was user ${before}, and is user ${owner} now. ${end}`);
}

/** Machines that a column has: those whose directories were named last. */
const MACHINES_MAX = 32;

/** What the column has of this machine; null where nothing was kept. Throws conflict for what is no such column. */
export function readKept(column: string | null, machine: string, words: DirectoryWords): DirectoryIdentity | null {
  const found = entriesOf(column).find(([name]) => name === machine)?.[1];
  if (found === undefined) return null;
  if (!isIdentity(found)) throw changedDirectory(words, 'another');
  return found;
}

/** The column with the directory of this machine; those of other machines stay. */
export function withKept(column: string | null, machine: string, identity: DirectoryIdentity): string {
  const others = entriesOf(column).filter(([name, value]) => name !== machine && isIdentity(value));
  return JSON.stringify(Object.fromEntries([...others, [machine, identity]].slice(-MACHINES_MAX)));
}

function entriesOf(column: string | null): [string, unknown][] {
  try {
    const json: unknown = JSON.parse(column ?? '{}');
    return typeof json === 'object' && json !== null ? Object.entries(json) : [];
  } catch {
    return [];
  }
}

function isIdentity(value: unknown): value is DirectoryIdentity {
  if (typeof value !== 'object' || value === null) return false;
  const { device, inode, owner, boot } = value as Partial<Record<keyof DirectoryIdentity, unknown>>;
  return [device, inode, boot].every((each) => typeof each === 'string') && typeof owner === 'number';
}
