import { isUtf8 } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { inParallel } from '../../lib/flow/parallel.ts';
import type { Folder } from '../run-files/folder.ts';
import type { OpenFile } from '../run-files/open-file.ts';
import type { CopyTarget } from './copy-target.ts';
import type { CopyLimits } from './copy-tree.ts';
import { linksOf, type TreeEntry } from './link.ts';
import { shownPath } from './tree-names.ts';

const close = promisify(fs.close);
const write = promisify(fs.write);

/** Files in work at once: while one is hashed, others are read and written. */
const PARALLEL = 4;
/** A file of this size or less is handed to `look` as a whole, in bytes. */
const BLOCK_BYTES = 1024 * 1024;
const OWNER_EXECUTES = 0o100;

/** What a copy has in it. */
export interface WholeTree {
  /** SHA-256, hex, over path, kind, executable bit and content of every entry. */
  readonly digest: string;
  readonly bytes: number;
}

export interface WholeOptions {
  readonly limits: CopyLimits;
  readonly signal: AbortSignal;
  /** Called with each file of at most one block. What it throws ends the copy. */
  readonly look?: (path: string, bytes: Buffer) => void;
}

interface Walk extends WholeOptions {
  readonly to: CopyTarget;
  readonly entries: Map<string, TreeEntry>;
  bytes: number;
}

/** An entry of an open folder: `path` is where it is below the top. */
interface Place {
  readonly name: string;
  readonly path: string;
}

/**
 * Copies all that is in a folder, without exceptions for names, to an empty one. Entries are opened by descriptors, and
 * no link is followed; links that stay in the folder are made again. Rejects with an Error that names the entry: for a
 * link that leads out or nowhere, another kind of file, and beyond a limit. Rejects with the reason of an aborted
 * `signal`. The target then holds a part.
 */
export async function copyWhole(from: Folder, to: CopyTarget, options: WholeOptions): Promise<WholeTree> {
  const walk: Walk = { ...options, to, entries: new Map(), bytes: 0 };
  await copyFolder(walk, from, '', 0);
  for await (const { path, target, end } of linksOf(walk.entries, options.signal)) {
    if (end !== 'inside') throw new Error(`${shownPath(path)} is a symbolic link that leads out, or nowhere`);
    await to.makeLink(path, target);
  }
  return { digest: digestOf(walk.entries), bytes: walk.bytes };
}

async function copyFolder(walk: Walk, folder: Folder, path: string, depth: number): Promise<void> {
  const { entries, limits, signal, to } = walk;
  if (depth > limits.depth) throw new Error(`${shownPath(path)} lies deeper than ${limits.depth} folders`);
  const files: Place[] = [];
  const folders: Place[] = [];
  for await (const { name: bytes } of folder.entries()) {
    signal.throwIfAborted();
    if (!isUtf8(bytes)) throw new Error(`${shownPath(path)} contains a name that is not UTF-8`);
    const name = bytes.toString('utf8');
    const place = { name, path: path === '' ? name : `${path}/${name}` };
    const stats = await folder.statsOf(name);
    if (stats.isSymbolicLink()) entries.set(place.path, { kind: 'link', target: await folder.linkText(name) });
    else if (stats.isFile()) files.push(place);
    else if (stats.isDirectory()) folders.push(place);
    else throw wrongKind(place.path);
    if (entries.size + files.length + folders.length > limits.files)
      throw new Error(`there are more than ${limits.files} files in it`);
  }
  for (let at = 0; at < files.length; at += to.filesAtOnce) {
    const some = files.slice(at, at + to.filesAtOnce);
    await to.begin(some.map((file) => file.path));
    await inParallel(some, PARALLEL, (file) => copyFile(walk, folder, file));
    await to.end();
  }
  for (const each of folders) entries.set(each.path, { kind: 'folder' });
  if (folders.length > 0) await to.makeFolders(folders.map((each) => each.path));
  for (const each of folders) {
    await using inner = await folder.folder(each.name);
    await copyFolder(walk, inner, each.path, depth + 1);
  }
}

async function copyFile(walk: Walk, folder: Folder, { name, path }: Place): Promise<void> {
  await using source = await folder.file(name, fs.constants.O_RDONLY);
  const stats = await source.stats();
  if (!stats.isFile()) throw wrongKind(path);
  const executable = (stats.mode & OWNER_EXECUTES) !== 0;
  const target = walk.to.open(path, executable);
  try {
    // One byte more than the size, so that a short read shows the end of the file.
    const block = Buffer.allocUnsafe(Math.min(stats.size + 1, BLOCK_BYTES));
    const digest = await pour(walk, path, { source, target }, block);
    walk.entries.set(path, { kind: 'file', executable, digest });
  } finally {
    await close(target);
  }
}

/** Copies an open file to its end and answers the digest of the bytes that were read. */
async function pour(
  walk: Walk,
  path: string,
  { source, target }: { readonly source: OpenFile; readonly target: number },
  block: Buffer,
): Promise<string> {
  const digest = createHash('sha256');
  for (let at = 0; ;) {
    walk.signal.throwIfAborted();
    const count = await source.readInto(block, at);
    if (count === 0) {
      if (at <= block.length) walk.look?.(path, block.subarray(0, at));
      return digest.digest('hex');
    }
    at += count;
    walk.bytes += count;
    if (walk.bytes > walk.limits.bytes) throw new Error(`there are more than ${walk.limits.bytes} bytes in it`);
    digest.update(block.subarray(0, count));
    for (let done = 0; done < count;) done += (await write(target, block, done, count - done)).bytesWritten;
  }
}

function digestOf(entries: ReadonlyMap<string, TreeEntry>): string {
  const lines = [...entries].map(([path, entry]) => {
    if (entry.kind === 'folder') return JSON.stringify([path, 'folder']);
    if (entry.kind === 'link') return JSON.stringify([path, 'link', entry.target]);
    return JSON.stringify([path, entry.executable ? 'program' : 'file', entry.digest]);
  });
  return hash('sha256', lines.toSorted().join('\n'));
}

function wrongKind(path: string): Error {
  return new Error(`${shownPath(path)} is neither a file, a folder nor a symbolic link`);
}
