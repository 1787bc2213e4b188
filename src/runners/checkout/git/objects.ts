import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { CopyLimits } from '../copy-tree.ts';
import { type Git, NO_REACH, runGit } from './process.ts';

/** Where the content of a file lies in the file of all contents, in bytes. */
export interface BlobPlace {
  readonly at: number;
  readonly size: number;
}

/** The objects of one commit. Contents of files lie one behind the other in one file. */
export interface GitObjects {
  readonly commit: string;
  /** The object of its root folder. */
  readonly tree: string;
  /** As git stores them, by name. */
  readonly trees: ReadonlyMap<string, Buffer>;
  readonly blobs: ReadonlyMap<string, BlobPlace>;
}

/** Of a commit or tag, in bytes: message and signature have kilobytes, a merge of 1,000 has 48 KiB of parents. */
const COMMIT_BYTES_MAX = 1024 * 1024;
/** Of all folders of a commit, in bytes. 20,000 entries with names of 255 bytes, the longest, have 5.5 MiB. */
const TREES_BYTES_MAX = 8 * 1024 * 1024;
/** Beside files and folders: the commit, and the tags that lead to it. */
const OTHER_OBJECTS_MAX = 64;
/** `<name> <type> <size>`, and its newline. */
const HEAD_BYTES_MAX = 128;
const HEAD = /^(?<name>[0-9a-f]{40}(?:[0-9a-f]{24})?) (?<type>blob|tree|commit|tag) (?<size>\d{1,15})$/;
const TREE_OF_COMMIT = /^tree (?<tree>[0-9a-f]{40}(?:[0-9a-f]{24})?)\n/;
const TREE_LINE_BYTES = 'tree \n'.length + 64;
/** Small contents are written together, in bytes: a write for each of 20,000 takes a second. */
const WRITE_BYTES = 256 * 1024;

type Type = 'blob' | 'tree' | 'commit' | 'tag';

interface Reading {
  readonly bytes: ObjectStream;
  readonly limits: CopyLimits;
  readonly contents: ContentsFile;
  readonly trees: Map<string, Buffer>;
  readonly blobs: Map<string, BlobPlace>;
  readonly commits: { readonly name: string; readonly tree: string }[];
  objects: number;
  treeBytes: number;
  blobBytes: number;
}

/**
 * Reads every object that was fetched, once, and writes the contents of files to `contents`, a new file. A fetch
 * without history brings one commit. Throws an Error that names the limit, before the object that exceeds it is held or
 * written.
 */
export async function readObjects(git: Git, contents: string, limits: CopyLimits): Promise<GitObjects> {
  // Before git is started: output without a reader from the first turn on is drained.
  const file = await open(contents, 'wx', 0o600);
  try {
    return await runGit(
      git,
      ['cat-file', '--batch-all-objects', '--unordered', '--batch'],
      NO_REACH,
      async (output) => {
        const reading: Reading = {
          bytes: new ObjectStream(output),
          limits,
          contents: new ContentsFile(file),
          trees: new Map(),
          blobs: new Map(),
          commits: [],
          objects: 0,
          treeBytes: 0,
          blobBytes: 0,
        };
        while (await readObject(reading));
        await reading.contents.flush();
        const { commits, trees, blobs } = reading;
        const [only] = commits;
        if (only === undefined) throw new Error('git: the fetched object is not a commit.');
        if (commits.length > 1) throw new Error('git: the server sent more than one commit.');
        return { commit: only.name, tree: only.tree, trees, blobs };
      },
    );
  } finally {
    await file.close();
  }
}

async function readObject(reading: Reading): Promise<boolean> {
  const line = await reading.bytes.line();
  if (line === null) return false;
  const { name = '', type = '', size = '' } = HEAD.exec(line)?.groups ?? {};
  if (type === '') throw new Error('git printed something other than the objects it fetched.');
  const { files } = reading.limits;
  reading.objects += 1;
  if (reading.objects > files + OTHER_OBJECTS_MAX)
    throw new Error(`The repository has more than ${files} files and folders.`);
  await READERS[type as Type](reading, name, Number(size));
  // The newline after the content.
  await reading.bytes.skip(1);
  return true;
}

const READERS: Readonly<Record<Type, (reading: Reading, name: string, size: number) => Promise<void>>> = {
  blob: readBlob,
  tree: readTree,
  commit: readCommit,
  tag: readTag,
};

async function readBlob(reading: Reading, name: string, size: number): Promise<void> {
  const { bytes, limits, blobs, contents } = reading;
  reading.blobBytes += size;
  if (reading.blobBytes > limits.bytes) throw tooManyBytes(limits);
  blobs.set(name, { at: contents.size, size });
  for await (const part of bytes.parts(size)) await contents.add(part);
}

export function tooManyBytes({ bytes }: CopyLimits): Error {
  return new Error(`The files of the repository have more than ${bytes} bytes.`);
}

/** Gathers small parts, and writes them together. */
class ContentsFile {
  readonly #file: FileHandle;
  #parts: Buffer[] = [];
  #waiting = 0;
  size = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async add(part: Buffer): Promise<void> {
    this.#parts.push(part);
    this.#waiting += part.length;
    this.size += part.length;
    if (this.#waiting >= WRITE_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#waiting > 0) await this.#file.appendFile(Buffer.concat(this.#parts, this.#waiting));
    this.#parts = [];
    this.#waiting = 0;
  }
}

async function readTree(reading: Reading, name: string, size: number): Promise<void> {
  reading.treeBytes += size;
  if (reading.treeBytes > TREES_BYTES_MAX)
    throw new Error(`The folders of the repository have more than ${TREES_BYTES_MAX} bytes of entries.`);
  reading.trees.set(name, await reading.bytes.take(size));
}

async function readCommit(reading: Reading, name: string, size: number): Promise<void> {
  refuseLarge(size, 'commit');
  const start = await reading.bytes.take(Math.min(size, TREE_LINE_BYTES));
  await reading.bytes.skip(size - start.length);
  const tree = TREE_OF_COMMIT.exec(start.toString('latin1'))?.groups?.['tree'];
  if (tree === undefined) throw new Error('The commit of the repository names no tree.');
  reading.commits.push({ name, tree });
}

async function readTag(reading: Reading, _name: string, size: number): Promise<void> {
  refuseLarge(size, 'tag');
  await reading.bytes.skip(size);
}

function refuseLarge(size: number, what: string): void {
  if (size > COMMIT_BYTES_MAX)
    throw new Error(`The ${what} object of the repository has more than ${COMMIT_BYTES_MAX} bytes.`);
}

/** What `git cat-file --batch` prints: per object a line, the content, and a newline. Holds only what is requested. */
class ObjectStream {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(output: Readable) {
    this.#chunks = output[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** The next line without its newline; null at the end. */
  async line(): Promise<string | null> {
    for (;;) {
      const end = this.#rest.indexOf(0x0a);
      if (end !== -1) {
        const line = this.#rest.toString('latin1', 0, end);
        this.#rest = this.#rest.subarray(end + 1);
        return line;
      }
      if (this.#rest.length > HEAD_BYTES_MAX)
        throw new Error('git printed something other than the objects it fetched.');
      const { done, value } = await this.#chunks.next();
      if (done === true) return null;
      this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    }
  }

  async *parts(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0;) {
      if (this.#rest.length === 0) {
        const { done, value } = await this.#chunks.next();
        if (done === true) throw new Error('git ended before it had printed all objects.');
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  /** A copy, so that a small object does not hold the block that it came in. */
  async take(length: number): Promise<Buffer> {
    const all = Buffer.alloc(length);
    let at = 0;
    for await (const part of this.parts(length)) at += part.copy(all, at);
    return all;
  }

  async skip(length: number): Promise<void> {
    for await (const part of this.parts(length)) if (part.length === 0) return;
  }
}
