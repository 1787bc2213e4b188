import { constants, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isUtf8 } from 'node:buffer';
import type { Folder } from '../run-files/folder.ts';
import type { OpenFile } from '../run-files/open-file.ts';
import { linksOf, type TreeEntry } from '../checkout/link.ts';
import { PLUGIN_FOLDERS } from '../checkout/plugin-folders.ts';
import { shownPath } from '../checkout/tree-names.ts';
import type { VendorTarget } from './vendored-files.ts';

interface CollectLimits {
  /** Files, folders and links. */
  readonly entries: number;
  readonly bytes: number;
  readonly depth: number;
}

/** All of the package `ansible` has 36,000 files; the archive of the largest provider has 170 MB. */
export const COLLECT_LIMITS: CollectLimits = { entries: 60_000, bytes: 2 * 1024 * 1024 * 1024, depth: 32 };
/** The folders that a job makes, and later runs use. */
export const VENDORED_FOLDERS = ['collections', 'roles', 'providers'] as const;
/** What Ansible runs of a collection where the task runs; all else of `plugins` runs on the machine of the daemon. */
const MODULE_FOLDERS: ReadonlySet<string> = new Set(['modules', 'module_utils']);
const NAME = /^[a-z_][a-z0-9_]*$/;
const BUILT_IN: ReadonlySet<string> = new Set(['builtin', 'legacy']);
const BLOCK_BYTES = 1024 * 1024;
const OWNER_EXECUTES = 0o100;

export interface Collected {
  readonly files: number;
  readonly bytes: number;
  /** Paths of plugins that were not taken. */
  readonly leftOut: readonly string[];
  /** Names of collections, as `namespace.name`. */
  readonly collections: readonly string[];
  readonly roles: readonly string[];
  /** Archives of providers. */
  readonly providers: number;
}

interface Walk {
  readonly target: VendorTarget;
  readonly plugins: boolean;
  readonly limits: CollectLimits;
  readonly signal: AbortSignal;
  readonly entries: Map<string, TreeEntry>;
  readonly leftOut: string[];
  seen: number;
  bytes: number;
}

/**
 * Copies what the tools of a job have made to a folder of the service. All tools have ended, but what they fetched is
 * of strangers, and a process that escaped may still exchange it: entries are opened by descriptors, and no link is
 * followed. Rejects with an Error that names the entry: for a link that leads out or nowhere, another kind of file, and
 * beyond a limit.
 */
export async function collect(
  from: Folder,
  target: VendorTarget,
  { plugins, signal, limits = COLLECT_LIMITS }: CollectOptions,
): Promise<Collected> {
  const walk: Walk = { target, plugins, limits, signal, entries: new Map(), leftOut: [], seen: 0, bytes: 0 };
  for (const name of VENDORED_FOLDERS) {
    await using folder = await from.folder(name);
    await target.makeFolder(name);
    walk.entries.set(name, { kind: 'folder' });
    await collectFolder(walk, folder, [name]);
  }
  for await (const { path, target: text, end } of linksOf(walk.entries, signal)) {
    if (end !== 'inside') throw new Error(`${shownPath(path)} is a symbolic link that leads out, or nowhere.`);
    await target.makeLink(path, text);
  }
  return summaryOf(walk);
}

interface CollectOptions {
  /** Whether the operator allowed plugins. */
  readonly plugins: boolean;
  readonly signal: AbortSignal;
  readonly limits?: CollectLimits;
}

async function collectFolder(walk: Walk, folder: Folder, parts: readonly string[]): Promise<void> {
  if (parts.length > walk.limits.depth) throw new Error(`${shownPath(parts.join('/'))} lies too deep.`);
  for await (const { name: bytes } of folder.entries()) {
    walk.signal.throwIfAborted();
    const name = bytes.toString('utf8');
    const inner = [...parts, name];
    const path = inner.join('/');
    if (!isUtf8(bytes) || /[\p{Cc}\\]/u.test(name)) throw new Error(`${shownPath(path)} is not a usable name.`);
    if (name === '.git') continue;
    if (!walk.plugins && isPlugin(inner)) {
      walk.leftOut.push(path);
      continue;
    }
    walk.seen += 1;
    if (walk.seen > walk.limits.entries) throw new Error(`There are more than ${walk.limits.entries} files in it.`);
    const stats = await folder.statsOf(bytes);
    if (stats.isDirectory()) {
      if (isInfo(inner)) continue;
      refuseStrange(inner);
      await walk.target.makeFolder(path);
      walk.entries.set(path, { kind: 'folder' });
      await using child = await folder.folder(bytes);
      await collectFolder(walk, child, inner);
    } else if (stats.isSymbolicLink()) walk.entries.set(path, { kind: 'link', target: await folder.linkText(bytes) });
    else if (stats.isFile()) await collectFile(walk, folder, bytes, path);
    else throw wrongKind(path);
  }
}

async function collectFile(walk: Walk, folder: Folder, name: Buffer, path: string): Promise<void> {
  await using source = await folder.file(name, constants.O_RDONLY);
  const stats = await source.stats();
  if (!stats.isFile()) throw wrongKind(path);
  const executable = (stats.mode & OWNER_EXECUTES) !== 0;
  const target = await walk.target.newFile(path, executable);
  try {
    await pour(walk, source, target, stats);
  } finally {
    await target.close();
  }
  walk.entries.set(path, { kind: 'file', executable, digest: '' });
}

async function pour(walk: Walk, source: OpenFile, target: FileHandle, { size }: Stats): Promise<void> {
  // One byte more than the size, so that a short read shows the end of the file.
  const block = Buffer.allocUnsafe(Math.min(size + 1, BLOCK_BYTES));
  for (let at = 0; ;) {
    walk.signal.throwIfAborted();
    const count = await source.readInto(block, at);
    if (count === 0) return;
    at += count;
    walk.bytes += count;
    if (walk.bytes > walk.limits.bytes) throw new Error(`There are more than ${walk.limits.bytes} bytes in it.`);
    await target.writeFile(block.subarray(0, count));
  }
}

/** Whether Ansible would run what is in there on the machine of the daemon. */
function isPlugin(parts: readonly string[]): boolean {
  const [top, root, , , folder, kind = ''] = parts;
  if (top === 'providers') return false;
  if (PLUGIN_FOLDERS.has(parts.at(-1) ?? '')) return true;
  return (
    parts.length === 6 &&
    top === 'collections' &&
    root === 'ansible_collections' &&
    folder === 'plugins' &&
    !MODULE_FOLDERS.has(kind)
  );
}

/** A note of ansible-galaxy about where a collection came from. */
function isInfo(parts: readonly string[]): boolean {
  return parts.length === 3 && parts[0] === 'collections' && (parts[2] ?? '').endsWith('.info');
}

/** A collection in the place of one that is part of Ansible would be used without a word of the playbook. */
function refuseStrange(parts: readonly string[]): void {
  const [top, root = '', namespace = '', name = ''] = parts;
  if (top !== 'collections' || parts.length > 4) return;
  const isUsual =
    (parts.length < 2 || root === 'ansible_collections') &&
    (parts.length < 3 || NAME.test(namespace)) &&
    (parts.length < 4 || NAME.test(name));
  if (!isUsual || (namespace === 'ansible' && BUILT_IN.has(name)))
    throw new Error(`${shownPath(parts.join('/'))} is not the name of a collection that can be used.`);
}

function summaryOf({ entries, leftOut, bytes }: Walk): Collected {
  const files = [...entries].filter(([, { kind }]) => kind === 'file');
  const folders = [...entries].flatMap(([path, { kind }]) => (kind === 'folder' ? [path.split('/')] : []));
  return {
    files: files.length,
    bytes,
    leftOut: leftOut.toSorted(),
    collections: folders.flatMap(([top, , ...names]) =>
      top === 'collections' && names.length === 2 ? [names.join('.')] : [],
    ),
    roles: folders.flatMap(([top, name, more]) =>
      top === 'roles' && name !== undefined && more === undefined ? [name] : [],
    ),
    providers: files.filter(([path]) => path.startsWith('providers/') && path.endsWith('.zip')).length,
  };
}

function wrongKind(path: string): Error {
  return new Error(`${shownPath(path)} is neither a file, a folder nor a symbolic link.`);
}
