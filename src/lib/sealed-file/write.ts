import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants as zlib, createZstdCompress } from 'node:zlib';
import type { Keyring } from '../seal.ts';
import { firstLineOf, LENGTH_BYTES, PIECE_BYTES, type PieceKind, pieceLabel, type Tail } from './format.ts';

/**
 * Level 1: a store of 1,000,000 jobs takes 1.3 s of processor time and shrinks to 0.13 of its size; level 3 takes 2.0 s
 * for 0.11.
 */
const LEVEL = 1;
const MODE = 0o600;
/** Between two syncs: in one go at the end, the file would be in the way of what a commit of the store waits for. */
const SYNC_BYTES = 4 * 1024 * 1024;

interface SealedFileOrder {
  readonly id: string;
  readonly ring: Pick<Keyring, 'seal'>;
  /** Anything that JSON holds; read before the content. */
  readonly head: unknown;
  readonly content: Readable;
  readonly signal: AbortSignal;
}

export interface SealedFileFacts {
  readonly sizeBytes: number;
  /** Of the whole file, hex: what `sha256sum` prints. */
  readonly sha256: string;
}

/**
 * Writes a sealed file with mode 0600, and syncs it. There must be no file at `path`. Compression runs in the thread
 * pool. When it rejects, with the system's error or the reason of the signal, the file is removed.
 */
export async function writeSealedFile(path: string, order: SealedFileOrder): Promise<SealedFileFacts> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(path, flags, MODE);
  try {
    await file.chmod(MODE);
    const facts = await write(file, order);
    await file.sync();
    return facts;
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

async function write(file: FileHandle, { id, ring, head, content, signal }: SealedFileOrder): Promise<SealedFileFacts> {
  const out = new HashedFile(file);
  await out.add(Buffer.from(firstLineOf(id)));
  let sequence = 0;
  const piece = async (kind: PieceKind, plain: Uint8Array): Promise<void> => {
    const sealed = ring.seal(pieceLabel(id, sequence, kind), plain);
    sequence += 1;
    await out.add(Buffer.concat([lengthOf(sealed.length), sealed]));
  };
  await piece('head', Buffer.from(JSON.stringify(head)));
  let contentBytes = 0;
  const params = { [zlib.ZSTD_c_compressionLevel]: LEVEL, [zlib.ZSTD_c_checksumFlag]: 1 };
  await pipeline(
    content,
    async function* count(source: AsyncIterable<Buffer>) {
      for await (const chunk of source) {
        contentBytes += chunk.length;
        yield chunk;
      }
    },
    createZstdCompress({ params, chunkSize: PIECE_BYTES }),
    async (compressed: AsyncIterable<Buffer>) => {
      for await (const plain of inPieces(compressed)) await piece('data', plain);
    },
    { signal },
  );
  const tail: Tail = { contentBytes };
  await piece('tail', Buffer.from(JSON.stringify(tail)));
  await out.add(lengthOf(0));
  await out.add(out.digest());
  return { sizeBytes: out.size, sha256: out.digest().toString('hex') };
}

/** The same bytes in pieces of PIECE_BYTES; the last one may be shorter. */
async function* inPieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    parts.push(chunk);
    size += chunk.length;
    if (size < PIECE_BYTES) continue;
    const whole = Buffer.concat(parts);
    let at = 0;
    for (; size - at >= PIECE_BYTES; at += PIECE_BYTES) yield whole.subarray(at, at + PIECE_BYTES);
    parts = [whole.subarray(at)];
    size -= at;
  }
  if (size > 0) yield Buffer.concat(parts);
}

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(bytes);
  return length;
}

/** A file that is only appended to, and the digest of what it has so far. */
class HashedFile {
  readonly #file: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  #syncAt = SYNC_BYTES;
  size = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async add(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    this.size += bytes.length;
    await this.#file.writeFile(bytes);
    if (this.size < this.#syncAt) return;
    this.#syncAt = this.size + SYNC_BYTES;
    await this.#file.datasync();
  }

  digest(): Buffer {
    return this.#hash.copy().digest();
  }
}
