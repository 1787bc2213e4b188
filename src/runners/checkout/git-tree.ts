import { constants } from 'node:fs';
import { mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { syncDirectory } from '../../lib/atomic-file.ts';
import { errorCode } from '../../lib/error-code.ts';
import type { CopyLimits } from './copy-tree.ts';
import { type Git, runGit } from './git-process.ts';
import { LinkFollower, type TreeEntry } from './link.ts';
import { readTreePath } from './tree-names.ts';

/** A file or link of a commit. */
export interface GitEntry {
  readonly path: string;
  readonly kind: 'file' | 'program' | 'link';
  readonly object: string;
  readonly bytes: number;
}

const KINDS: Readonly<Record<string, GitEntry['kind']>> = { '100644': 'file', '100664': 'file', '100755': 'program', '120000': 'link' };
/** A submodule: a commit of another repository, which is not fetched. */
const SUBMODULE = '160000';
/** A link's text; longer ones no system follows. */
const LINK_BYTES_MAX = 4_096;
/** One line of the list: its fields and a path. A longer one is none that git makes. */
const LINE_BYTES_MAX = 16 * 1024;
const WRITERS = 8;

/**
 * The files of a commit. Throws an Error for a path that is not to be written, and beyond a limit: a repository of a few
 * kilobytes can list more files than there are atoms, so the list is judged while it comes.
 */
export function listTree(git: Git, commit: string, limits: CopyLimits): Promise<readonly GitEntry[]> {
  return runGit(git, ['ls-tree', '-r', '-z', '-l', '--full-tree', commit], async (output) => {
    const entries: GitEntry[] = [];
    let bytes = 0;
    for await (const line of lines(output)) {
      const entry = readLine(line);
      if (entry === null) continue;
      bytes += entry.bytes;
      entries.push(entry);
      if (entries.length > limits.files) throw new Error(`The repository has more than ${limits.files} files.`);
      if (bytes > limits.bytes) throw new Error(`The files of the repository have more than ${limits.bytes} bytes.`);
      if (entry.path.split('/').length > limits.depth) throw new Error(`The repository has folders deeper than ${limits.depth}.`);
    }
    return entries;
  });
}

async function* lines(output: Readable): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of output) {
    let all: Buffer = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    for (let end = all.indexOf(0); end !== -1; end = all.indexOf(0)) {
      yield all.subarray(0, end);
      all = all.subarray(end + 1);
    }
    if (all.length > LINE_BYTES_MAX) throw new Error('The repository has a path in it that is too long.');
    rest = all;
  }
}

/** `<mode> <type> <object> <size>\t<path>`; null for a submodule, which leaves nothing. */
function readLine(line: Buffer): GitEntry | null {
  const tab = line.indexOf(9);
  const [mode = '', , object = '', size = ''] = line.subarray(0, tab).toString('latin1').split(/ +/);
  const path = readTreePath(line.subarray(tab + 1));
  if (mode === SUBMODULE) return null;
  const kind = KINDS[mode];
  const bytes = Number(size);
  if (kind === undefined || !Number.isSafeInteger(bytes)) throw new Error(`The repository has ${JSON.stringify(path)} in it, which is neither a file nor a link.`);
  if (kind === 'link' && bytes > LINK_BYTES_MAX) throw new Error(`The link ${JSON.stringify(path)} of the repository is too long.`);
  return { path, kind, object, bytes };
}

/** Writes the files into `tree`, an empty folder, as they are stored, and waits until they are on the disk. */
export async function writeTree(git: Git, entries: readonly GitEntry[], tree: string): Promise<void> {
  const made = await makeFolders(entries, tree);
  const links: [path: string, target: string][] = [];
  await runGit(git, ['cat-file', '--batch'], async (output, input) => {
    input.end(entries.map(({ object }) => `${object}\n`).join(''));
    const contents = new Contents(output);
    const writers = new Writers();
    for (const entry of entries) {
      const content = await contents.next(entry);
      if (entry.kind === 'link') links.push([entry.path, content.toString('utf8')]);
      else await writers.add(() => writeOne(join(tree, entry.path), content, entry));
    }
    await writers.end();
  });
  // Last of all, so that nothing was written through one.
  await makeLinks(made, links, entries, tree);
  for (const folder of [...made.keys(), '']) await syncDirectory(join(tree, folder));
}

async function makeFolders(entries: readonly GitEntry[], tree: string): Promise<Map<string, TreeEntry>> {
  const made = new Map<string, TreeEntry>();
  const make = async (folder: string): Promise<void> => {
    if (folder === '.' || made.has(folder)) return;
    await make(dirname(folder));
    made.set(folder, { kind: 'folder' });
    await mkdir(join(tree, folder), { mode: 0o700 });
  };
  for (const { path } of entries) await make(dirname(path));
  return made;
}

/** On the disk before the tree gets its name: a file that a power cut emptied would be a configuration without it. */
async function writeOne(path: string, content: Buffer, { kind, path: shown }: GitEntry): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, kind === 'program' ? 0o700 : 0o600).catch((error: unknown) => {
    throw new Error(`The path ${JSON.stringify(shown)} of the repository can not be written (${errorCode(error)}).`, { cause: error });
  });
  try {
    await file.writeFile(content);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function makeLinks(
  folders: ReadonlyMap<string, TreeEntry>,
  links: readonly (readonly [path: string, target: string])[],
  entries: readonly GitEntry[],
  tree: string,
): Promise<void> {
  const all = new Map<string, TreeEntry>(folders);
  for (const { path, kind } of entries) all.set(path, { kind: 'file', executable: kind === 'program', digest: '' });
  for (const [path, target] of links) all.set(path, { kind: 'link', target });
  const follower = new LinkFollower(all);
  for (const [path, target] of links) {
    const leads = follower.endOf(path);
    if (leads === 'outside') throw new Error(`The link ${JSON.stringify(path)} of the repository leads out of it.`);
    if (leads === 'nowhere') throw new Error(`The link ${JSON.stringify(path)} of the repository leads nowhere in it.`);
    await symlink(target, join(tree, path));
  }
}

/** Does a few things at a time; what failed first is told at the end, when nothing is being written any more. */
class Writers {
  readonly #running = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];

  async add(work: () => Promise<void>): Promise<void> {
    if (this.#running.size >= WRITERS) await Promise.race(this.#running);
    if (this.#failures.length > 0) return this.end();
    const running: Promise<void> = work()
      .catch((error: unknown) => void this.#failures.push(error))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async end(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failures.length > 0) throw this.#failures[0];
  }
}

/** Reads what `git cat-file --batch` prints: per object a line, the content, and a newline. */
class Contents {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(output: Readable) {
    this.#chunks = output[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async next({ object, bytes }: GitEntry): Promise<Buffer> {
    const expected = `${object} blob ${bytes}\n`;
    const head = await this.#take(expected.length);
    if (head.toString('latin1') !== expected) throw new Error('git printed something else than the files that it listed.');
    const content = await this.#take(bytes);
    await this.#take(1);
    return content;
  }

  async #take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [this.#rest];
    let have = this.#rest.length;
    while (have < length) {
      const { done, value } = await this.#chunks.next();
      if (done === true) throw new Error('git ended before it had printed all files.');
      parts.push(value);
      have += value.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts, have);
    this.#rest = all.subarray(length);
    return all.subarray(0, length);
  }
}
