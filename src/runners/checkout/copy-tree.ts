import { isUtf8 } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import * as fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Failure } from '../../domain/failure.ts';
import type { Tree } from '../../domain/sources/directory.ts';
import { errorCode } from '../../lib/error-code.ts';
import { entriesOf } from '../../lib/files/list-folder.ts';
import { type CopySource, openSource, type Place, statsNow } from './copy-source.ts';
import { type CopyTarget, OwnTarget } from './copy-target.ts';
import { linksOf, type TreeEntry } from './link.ts';
import { inParallel } from '../../lib/flow/parallel.ts';
import { shownPath } from './tree-names.ts';

// Calls that may wait for ever, on a network that is gone, are made in another thread: opening, and listing a folder,
// which may have millions of names and is read in pieces. The other calls are synchronous: ten files of 2 KiB in two
// folders took 2.0 to 2.5 ms, with a promise for each call 4.3 ms, and with synchronous calls only 0.9 to 1.2 ms.

export interface CopyLimits {
  /** Files, folders and links. */
  readonly files: number;
  readonly bytes: number;
  readonly depth: number;
}

/** A root has some tens of files. A larger folder is the wrong one, and each run would copy it. */
export const COPY_LIMITS: CopyLimits = { files: 20_000, bytes: 256 * 1024 * 1024, depth: 64 };

export interface CopiedTree {
  /** SHA-256, hex, over path, kind, executable bit and content of every file and link, states excepted. */
  readonly digest: string;
  /** The same with states. */
  readonly wholeDigest: string;
  readonly files: number;
  readonly bytes: number;
  /** Paths of entries that the caller left out. */
  readonly leftOut: readonly string[];
}

/**
 * Not copied at any level. `.git` has configuration that git would obey. `.terraform` may hold plugins of another user,
 * which terraform would run. The lock belongs to a terraform that works in the original, and `errored.tfstate` to an
 * earlier run.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  '.git',
  '.terraform',
  '.terraform.tfstate.lock.info',
  'errored.tfstate',
]);
/** Copied, but not configuration: a plan remains valid when the state file beside the same files changes. */
const STATES: ReadonlySet<string> = new Set(['terraform.tfstate', 'terraform.tfstate.backup']);
/** Files in work at once: while one is copied, the next ones are being opened. */
const PARALLEL = 4;
/** Copied without a pause; other work of the process gets its turn in between. */
const BLOCK_BYTES = 256 * 1024;
const OWNER_EXECUTES = 0o100;
/** A path that begins with an open folder stays in it, also if a folder above it is replaced by a link. */
const FD_PATHS = process.platform === 'linux' ? '/proc/self/fd' : null;

interface CopyOptions {
  readonly limits?: CopyLimits;
  readonly signal?: AbortSignal | undefined;
  /** Names that are not copied at any level, besides LEFT_OUT. */
  readonly without?: ReadonlySet<string> | undefined;
}

/** What the walk gathers. */
interface Copy {
  readonly source: CopySource;
  readonly to: CopyTarget;
  readonly limits: CopyLimits;
  readonly signal: AbortSignal | undefined;
  readonly without: ReadonlySet<string>;
  readonly leftOut: string[];
  readonly entries: Map<string, TreeEntry>;
  seen: number;
  bytes: number;
}

/**
 * Copies the regular files and folders of a tree, and the links that lead inside it, to the empty folder `to`; a text
 * is the path of a folder of this process. Only the owner of `to` may read the copy. Rejects with an Error whose
 * message names the entry: for a link that leads out or nowhere, another kind of file, an entry that cannot be read, a
 * tree that is replaced in the mean time, and beyond a limit. Rejects with a Failure for another directory than the one
 * that was named, and with the reason of an aborted `signal`. `to` then holds a part.
 */
export async function copyTree(
  from: string | Tree,
  to: string | CopyTarget,
  { limits = COPY_LIMITS, signal, without = new Set() }: CopyOptions = {},
): Promise<CopiedTree> {
  const target = typeof to === 'string' ? new OwnTarget(to) : to;
  await using source = await reading('', '', () => openSource(from));
  const leftOut: string[] = [];
  const copy: Copy = { source, to: target, limits, signal, without, leftOut, entries: new Map(), seen: 0, bytes: 0 };
  const before = await read(copy, '', () => source.stats());
  await copyFolder(copy, { at: source.at, path: '' }, await read(copy, '', () => source.openRoot()), 0);
  await refuseReplaced(from, before);
  await makeLinks(copy);
  const files = [...copy.entries.values()].filter(({ kind }) => kind === 'file').length;
  const [digest, wholeDigest] = [digestOf(copy.entries, STATES), digestOf(copy.entries, new Set())];
  return { digest, wholeDigest, files, bytes: copy.bytes, leftOut };
}

/**
 * A tree is renamed before its files are removed, and a new tree takes the place of an old one. A copy that began in
 * the old one may lack files, and terraform destroys the resources of a missing file.
 */
async function refuseReplaced(from: string | Tree, before: fs.Stats): Promise<void> {
  const after = await statsNow(from).catch(() => null);
  if (after?.dev !== before.dev || after.ino !== before.ino)
    throw new Error('The folder was replaced while it was copied.');
}

/** Closes `folder`, which is open; its `path` is below the root. */
async function copyFolder(
  copy: Copy,
  { at, path }: Pick<Place, 'at' | 'path'>,
  folder: number,
  depth: number,
): Promise<void> {
  try {
    const here = FD_PATHS === null ? at : `${FD_PATHS}/${folder}`;
    const files: Place[] = [];
    const folders: Place[] = [];
    const leftOut: Place[] = [];
    for await (const entry of listed(copy, path, here)) {
      if (!isUtf8(entry.name)) throw new Error(`${shown(path)} contains a name that is not UTF-8.`);
      const name = entry.name.toString('utf8');
      if (LEFT_OUT.has(name)) continue;
      const place = { at: `${here}/${name}`, folder, name, path: path === '' ? name : `${path}/${name}` };
      copy.signal?.throwIfAborted();
      copy.seen += 1;
      if (copy.without.has(name)) {
        leftOut.push(place);
        continue;
      }
      if (copy.seen > copy.limits.files) throw new Error(`There are more than ${copy.limits.files} files in it.`);
      if (entry.isFile()) files.push(place);
      else if (entry.isDirectory()) folders.push(place);
      else if (entry.isSymbolicLink()) await noteLink(copy, place);
      else throw wrongKind(place.path);
    }
    // A folder has its names in no order, and what is said of a tree must be the same each time.
    for (const places of [files, folders, leftOut]) places.sort((a, b) => (a.name < b.name ? -1 : 1));
    copy.leftOut.push(...leftOut.map((left) => left.path));
    await copyFiles(copy, files);
    if (folders.length > 0) await copy.to.makeFolders(folders.map((inner) => inner.path));
    for (const inner of folders) await copyInner(copy, inner, depth + 1);
  } finally {
    fs.closeSync(folder);
  }
}

/** The entries of a folder that lies at `path` below the root. */
async function* listed(copy: Copy, path: string, here: string): AsyncGenerator<fs.Dirent<Buffer>> {
  await using entries = entriesOf(here);
  for (;;) {
    const next = await read(copy, path, () => entries.next());
    if (next.done === true) return;
    yield next.value;
  }
}

async function copyInner(copy: Copy, inner: Place, depth: number): Promise<void> {
  copy.entries.set(inner.path, { kind: 'folder' });
  if (depth > copy.limits.depth) throw new Error(`${shown(inner.path)} lies deeper than ${copy.limits.depth} folders.`);
  const folder = await read(copy, inner.path, () => copy.source.openFolder(inner));
  await copyFolder(copy, inner, folder, depth);
}

async function copyFiles(copy: Copy, files: readonly Place[]): Promise<void> {
  const { source, to } = copy;
  const step = Math.min(source.filesAtOnce, to.filesAtOnce);
  for (let at = 0; at < files.length; at += step) {
    const some = files.slice(at, at + step);
    await to.begin(some.map((file) => file.path));
    await source.begin(some);
    try {
      await inParallel(some, PARALLEL, (file) => copyFile(copy, file));
    } finally {
      await source.end();
    }
    await to.end();
  }
}

async function copyFile(copy: Copy, place: Place): Promise<void> {
  const { path } = place;
  copy.signal?.throwIfAborted();
  const source = await read(copy, path, () => copy.source.openFile(place));
  try {
    const stats = fs.fstatSync(source);
    if (!stats.isFile()) throw wrongKind(path);
    const executable = (stats.mode & OWNER_EXECUTES) !== 0;
    const target = copy.to.open(path, executable);
    try {
      // One byte more than the size, so that a short read shows the end of the file.
      const block = Buffer.allocUnsafe(Math.min(stats.size + 1, BLOCK_BYTES));
      const digest = await pour(copy, path, { source, target }, block);
      copy.entries.set(path, { kind: 'file', executable, digest });
    } finally {
      fs.closeSync(target);
    }
  } finally {
    fs.closeSync(source);
  }
}

/** Copies an open file to its end and answers the digest of the bytes that were read. */
async function pour(
  copy: Copy,
  path: string,
  { source, target }: { readonly source: number; readonly target: number },
  block: Buffer,
): Promise<string> {
  const digest = createHash('sha256');
  for (;;) {
    copy.signal?.throwIfAborted();
    const count = await read(copy, path, () => fs.readSync(source, block, 0, block.length, null));
    if (count === 0) return digest.digest('hex');
    copy.bytes += count;
    if (copy.bytes > copy.limits.bytes) throw new Error(`There are more than ${copy.limits.bytes} bytes in it.`);
    const part = block.subarray(0, count);
    digest.update(part);
    for (let done = 0; done < part.length;) done += fs.writeSync(target, part, done);
    if (count === BLOCK_BYTES) await setImmediate();
  }
}

async function noteLink(copy: Copy, place: Place): Promise<void> {
  const { name, path } = place;
  // Terraform would write through it, and the service would not find the state.
  if (STATES.has(name)) throw new Error(`${shown(path)} is a symbolic link; a state must be a file.`);
  const target = await read(copy, path, () => copy.source.linkText(place));
  if (!isUtf8(target)) throw new Error(`${shown(path)} is a symbolic link whose target is not UTF-8.`);
  copy.entries.set(path, { kind: 'link', target: target.toString('utf8') });
}

/** After all other entries, because a link may lead to any of them. */
async function makeLinks(copy: Copy): Promise<void> {
  for await (const { path, target, end } of linksOf(copy.entries, copy.signal)) {
    if (end !== 'inside')
      throw new Error(
        `${shown(path)} is a symbolic link that leads ` +
          `${end === 'outside' ? 'out of the tree' : 'nowhere in the tree'}.`,
      );
    await copy.to.makeLink(path, target);
  }
}

/**
 * A folder counts only where nothing is in it, as each other one is in the paths of what it holds: an empty
 * `roles/x` takes the place of a role elsewhere.
 */
function digestOf(entries: ReadonlyMap<string, TreeEntry>, except: ReadonlySet<string>): string {
  const filled = new Set<string>();
  for (const path of entries.keys()) filled.add(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
  const lines: string[] = [];
  for (const [path, entry] of entries) {
    if (entry.kind === 'folder' && !filled.has(path)) lines.push(JSON.stringify([path, 'folder']));
    if (entry.kind === 'link') lines.push(JSON.stringify([path, 'link', entry.target]));
    if (entry.kind !== 'file' || except.has(path.slice(path.lastIndexOf('/') + 1))) continue;
    lines.push(JSON.stringify([path, entry.executable ? 'program' : 'file', entry.digest]));
  }
  return hash('sha256', lines.toSorted().join('\n'));
}

function read<T>({ source }: Copy, path: string, work: () => T | Promise<T>): Promise<T> {
  return reading(path, source.rights, work);
}

/** Replaces the system's message, which has an internal path, by one that names the entry. */
async function reading<T>(path: string, rights: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) throw error;
    const code = errorCode(error) ?? 'unknown error';
    throw new Error(`${shown(path)} cannot be read${rights} (${code}).`, { cause: error });
  }
}

function wrongKind(path: string): Error {
  return new Error(`${shown(path)} is neither a file, a folder nor a symbolic link.`);
}

function shown(path: string): string {
  return path === '' ? 'The folder' : shownPath(path);
}
