import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { syncDirectory } from '../../../lib/atomic-file.ts';
import { errorCode } from '../../../lib/error-code.ts';
import type { CopyLimits } from '../copy-tree.ts';
import { type BlobPlace, type GitObjects, tooManyBytes } from './objects.ts';
import { linksOf, type TreeEntry } from '../link.ts';
import { readTreeName, shownPath } from '../tree-names.ts';
import { inParallel } from '../../../lib/flow/parallel.ts';

/** A file, folder or link of a commit. */
interface GitEntry {
  readonly path: string;
  readonly kind: 'file' | 'program' | 'link' | 'folder';
  readonly object: string;
}

/** The kind of an entry is in the upper bits of its mode, as in a file system. */
const KIND_BITS = 0o170000;
const FILE = 0o100000;
const LINK = 0o120000;
const FOLDER = 0o040000;
/** A submodule: a commit of another repository, which is not fetched. */
const SUBMODULE = 0o160000;
const OWNER_EXECUTES = 0o100;
const MODE = /^[0-7]{5,7}$/;
/** A link's text; longer ones no system follows. */
const LINK_BYTES_MAX = 4_096;
/** Files that are written at a time: each waits for the disk once. */
const AT_A_TIME = 8;
/** Of a content that is in memory at a time. */
const BLOCK_BYTES = 256 * 1024;
/** Of an object's name in a tree: SHA-1, the only kind that is fetched. */
const NAME_BYTES = 20;

/** One entry of a folder as git stores it. */
interface RawEntry {
  readonly mode: number;
  readonly name: Buffer;
  readonly object: string;
}

/** Entries that are looked at between two turns of the event loop: about 2 ms. */
const ENTRIES_PER_TURN = 500;

interface Listing {
  readonly objects: GitObjects;
  readonly limits: CopyLimits;
  readonly signal: AbortSignal;
  readonly entries: GitEntry[];
  seen: number;
  bytes: number;
}

/**
 * The files, folders and links of a commit, folders before what is in them. A repository of two kilobytes can list more
 * entries than there are atoms, so they are counted while they are read. Throws an Error for a path that is not to be
 * written, for what is neither file, folder, link nor submodule, and beyond a limit; with the reason of `signal` when
 * that is aborted.
 */
export async function listTree(
  objects: GitObjects,
  limits: CopyLimits,
  signal: AbortSignal,
): Promise<readonly GitEntry[]> {
  const listing: Listing = { objects, limits, signal, entries: [], seen: 0, bytes: 0 };
  await listFolder(listing, objects.tree, '', 1);
  return listing.entries;
}

async function listFolder(listing: Listing, object: string, folder: string, depth: number): Promise<void> {
  const { limits, objects } = listing;
  const raw = objects.trees.get(object);
  if (raw === undefined)
    throw new Error(`The repository lacks the entries of ${folder === '' ? 'its root' : shownPath(folder)}.`);
  const names = new Set<string>();
  for (const { mode, name, object: inner } of parseTree(raw)) {
    listing.seen += 1;
    if (listing.seen > limits.files) throw new Error(`The repository has more than ${limits.files} files and folders.`);
    if (listing.seen % ENTRIES_PER_TURN === 0) await setImmediate();
    listing.signal.throwIfAborted();
    const path = readTreeName(folder, name);
    if (names.has(path)) throw new Error(`The repository has the path ${shownPath(path)} in it twice.`);
    names.add(path);
    if (depth > limits.depth) throw new Error(`The repository has folders deeper than ${limits.depth}.`);
    const kind = kindOf(mode, path);
    if (kind === null) continue;
    listing.entries.push({ path, kind, object: inner });
    if (kind === 'folder') await listFolder(listing, inner, path, depth + 1);
    else countContent(listing, path, kind, inner);
  }
}

function countContent(listing: Listing, path: string, kind: GitEntry['kind'], object: string): void {
  const size = listing.objects.blobs.get(object)?.size;
  if (size === undefined) throw new Error(`The repository lacks the contents of ${shownPath(path)}.`);
  if (kind === 'link' && size > LINK_BYTES_MAX)
    throw new Error(`The link ${shownPath(path)} of the repository is too long.`);
  listing.bytes += size;
  if (listing.bytes > listing.limits.bytes) throw tooManyBytes(listing.limits);
}

/** Null for a submodule, which leaves nothing. */
function kindOf(mode: number, path: string): GitEntry['kind'] | null {
  switch (mode & KIND_BITS) {
    case FILE:
      return (mode & OWNER_EXECUTES) === 0 ? 'file' : 'program';
    case LINK:
      return 'link';
    case FOLDER:
      return 'folder';
    case SUBMODULE:
      return null;
    default:
      throw new Error(`The repository has ${shownPath(path)} in it, which is neither a file, a folder nor a link.`);
  }
}

/** `<mode> <name>\0<20 bytes>`, again and again. */
function* parseTree(raw: Buffer): Generator<RawEntry> {
  for (let at = 0; at < raw.length;) {
    const blank = raw.indexOf(0x20, at);
    const end = raw.indexOf(0, blank + 1);
    const next = end + 1 + NAME_BYTES;
    const mode = blank === -1 ? '' : raw.toString('latin1', at, Math.min(blank, at + 8));
    if (!MODE.test(mode) || end === -1 || next > raw.length)
      throw new Error('The repository has a folder that cannot be read.');
    yield {
      mode: Number.parseInt(mode, 8),
      name: raw.subarray(blank + 1, end),
      object: raw.toString('hex', end + 1, next),
    };
    at = next;
  }
}

/** Where the contents are read from, where the tree is to be, and what stops it. */
interface TreePlace {
  readonly contents: FileHandle;
  /** An empty folder. */
  readonly tree: string;
  readonly signal: AbortSignal;
}

/** Writes the tree, with its contents as they are stored, and waits until it is on the disk. */
export async function writeTree(entries: readonly GitEntry[], { blobs }: GitObjects, place: TreePlace): Promise<void> {
  const made = new Map<string, TreeEntry>();
  const files: GitEntry[] = [];
  for (const entry of entries) {
    place.signal.throwIfAborted();
    const { path, kind, object } = entry;
    if (kind === 'link') {
      made.set(path, { kind, target: await readTarget(place.contents, blobs.get(object) ?? NOTHING, path) });
    } else if (kind === 'folder') {
      made.set(path, { kind });
      await mkdir(join(place.tree, path), { mode: 0o700 });
    } else {
      made.set(path, { kind: 'file', executable: kind === 'program', digest: '' });
      files.push(entry);
    }
  }
  await inParallel(files, AT_A_TIME, (entry) => writeFileOf(entry, blobs.get(entry.object) ?? NOTHING, place));
  // Last of all, so that nothing was written through one.
  await makeLinks(made, place);
  const folders = entries.filter(({ kind }) => kind === 'folder');
  await inParallel(folders, AT_A_TIME, ({ path }) => {
    place.signal.throwIfAborted();
    return syncDirectory(join(place.tree, path));
  });
  await syncDirectory(place.tree);
}

const NOTHING: BlobPlace = { at: 0, size: 0 };

/** On the disk before the tree gets its name: a file that a power cut emptied would be a configuration without it. */
async function writeFileOf(
  { path, kind }: GitEntry,
  { at, size }: BlobPlace,
  { contents, tree, signal }: TreePlace,
): Promise<void> {
  signal.throwIfAborted();
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = await open(
    join(tree, path),
    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
    kind === 'program' ? 0o700 : 0o600,
  ).catch((error: unknown) => {
    throw new Error(`The path ${shownPath(path)} of the repository cannot be written (${errorCode(error)}).`, {
      cause: error,
    });
  });
  try {
    const block = Buffer.allocUnsafe(Math.min(size, BLOCK_BYTES));
    for (let done = 0; done < size;) {
      signal.throwIfAborted();
      const { bytesRead } = await contents.read(block, 0, Math.min(block.length, size - done), at + done);
      if (bytesRead === 0) throw new Error('The contents of the repository end early.');
      await file.writeFile(block.subarray(0, bytesRead));
      done += bytesRead;
    }
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function readTarget(contents: FileHandle, { at, size }: BlobPlace, path: string): Promise<string> {
  const target = Buffer.alloc(size);
  await contents.read(target, 0, size, at);
  if (!isUtf8(target) || target.includes(0))
    throw new Error(`The link ${shownPath(path)} of the repository has a target that is not text.`);
  return target.toString('utf8');
}

async function makeLinks(made: ReadonlyMap<string, TreeEntry>, { tree, signal }: TreePlace): Promise<void> {
  for await (const { path, target, end } of linksOf(made, signal)) {
    if (end === 'outside') throw new Error(`The link ${shownPath(path)} of the repository leads out of it.`);
    if (end === 'nowhere') throw new Error(`The link ${shownPath(path)} of the repository leads nowhere in it.`);
    await symlink(target, join(tree, path));
  }
}
