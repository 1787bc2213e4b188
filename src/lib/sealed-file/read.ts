import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { keyIdOf, type Keyring, SEAL_OVERHEAD_BYTES, SealBroken } from '../seal.ts';
import {
  DIGEST_BYTES,
  FIRST_LINE_BYTES_MAX,
  firstLineOf,
  LENGTH_BYTES,
  PIECE_BYTES,
  type PieceKind,
  pieceLabel,
  readFirstLine,
  SealedFileBroken,
  type Tail,
} from './format.ts';
import type { SealedFileFacts } from './write.ts';

const READ_BYTES = 1024 * 1024;

/** An open sealed file whose digest was checked. */
export interface SealedFile extends SealedFileFacts {
  readonly id: string;
  /** The head, as JSON had it. Throws SealedFileBroken. */
  head(ring: Pick<Keyring, 'open'>): Promise<unknown>;
  /**
   * Hands the content over, and resolves when it was all taken and was whole. Rejects with SealedFileBroken, with what
   * `take` throws, or with the reason of the signal: what was taken until then must not be used.
   */
  content(
    ring: Pick<Keyring, 'open'>,
    take: (content: AsyncIterable<Buffer>) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a sealed file and reads it once to its end, for its digest. Rejects with SealedFileBroken and with the system's
 * errors.
 */
export async function openSealedFile(path: string, signal?: AbortSignal): Promise<SealedFile> {
  // Without O_NONBLOCK a named pipe would block for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { id, ...facts } = await check(file, signal);
    const start = Buffer.byteLength(firstLineOf(id));
    return {
      id,
      ...facts,
      async head(ring) {
        const [plain] = await opened({ file, id }, start, [0, 'head'], ring);
        return JSON.parse(plain.toString()) as unknown;
      },
      content: (ring, take, stop) => readContent({ file, id, start, sizeBytes: facts.sizeBytes }, ring, take, stop),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Takes a content and keeps nothing of it: for a reader who only wants to know that it is whole. */
export async function drain(content: AsyncIterable<Buffer>): Promise<void> {
  const parts = content[Symbol.asyncIterator]();
  for (let isOver = false; !isOver;) isOver = (await parts.next()).done === true;
}

async function check(file: FileHandle, signal?: AbortSignal): Promise<SealedFileFacts & { readonly id: string }> {
  const stats = await file.stat();
  if (!stats.isFile()) throw new SealedFileBroken('not one');
  const first = readFirstLine((await readAt(file, 0, FIRST_LINE_BYTES_MAX)).toString('latin1'));
  if (first === null) throw new SealedFileBroken('not one');
  if (first === 'newer') throw new SealedFileBroken('newer');
  const end = stats.size - DIGEST_BYTES;
  if (end < 0) throw new SealedFileBroken('damaged');
  const hash = createHash('sha256');
  for (let at = 0; at < end;) {
    signal?.throwIfAborted();
    const chunk = await readAt(file, at, Math.min(READ_BYTES, end - at));
    if (chunk.length === 0) throw new SealedFileBroken('damaged');
    hash.update(chunk);
    at += chunk.length;
  }
  const stored = await readAt(file, end, DIGEST_BYTES);
  const whole = hash.copy().update(stored).digest('hex');
  if (!hash.digest().equals(stored)) throw new SealedFileBroken('damaged');
  return { id: first.id, sizeBytes: stats.size, sha256: whole };
}

interface Place {
  readonly file: FileHandle;
  readonly id: string;
  /** Where the first frame begins. */
  readonly start: number;
  readonly sizeBytes: number;
}

async function readContent(
  place: Place,
  ring: Pick<Keyring, 'open'>,
  take: (content: AsyncIterable<Buffer>) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  let contentBytes = 0;
  let tail: Tail | null = null;
  const pieces = Readable.from(
    dataPieces(place, ring, (found) => {
      tail = found;
    }),
    { objectMode: false },
  );
  const count = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      contentBytes += chunk.length;
      yield chunk;
    }
  };
  try {
    const steps = [pieces, createZstdDecompress({ chunkSize: PIECE_BYTES })] as const;
    await pipeline(...steps, count, take, signal === undefined ? {} : { signal });
  } catch (error) {
    // Sealed pieces that do not decompress were written so: by a fault of ours or of the machine.
    if (isZstdError(error)) throw new SealedFileBroken('altered');
    throw error;
  }
  const end = tail as Tail | null;
  if (end === null || end.contentBytes !== contentBytes) throw new SealedFileBroken('altered');
}

function isZstdError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(ZSTD_|ERR_ZLIB|Z_)/.test(String(error.code));
}

async function* dataPieces(
  place: Place,
  ring: Pick<Keyring, 'open'>,
  ended: (tail: Tail) => void,
): AsyncGenerator<Buffer> {
  const end = place.sizeBytes - DIGEST_BYTES - LENGTH_BYTES;
  let [, at] = await opened(place, place.start, [0, 'head'], ring);
  for (let sequence = 1; ; sequence += 1) {
    const isLast = at + LENGTH_BYTES + (await lengthAt(place.file, at)) === end;
    const [plain, next] = await opened(place, at, [sequence, isLast ? 'tail' : 'data'], ring);
    if (isLast) {
      ended(JSON.parse(plain.toString()) as Tail);
      return;
    }
    yield plain;
    at = next;
  }
}

/** The content of the piece whose frame begins at `at`, and where the next one begins. */
async function opened(
  { file, id }: Pick<Place, 'file' | 'id'>,
  at: number,
  [sequence, kind]: readonly [number, PieceKind],
  ring: Pick<Keyring, 'open'>,
): Promise<[Buffer, number]> {
  const length = await lengthAt(file, at);
  const sealed = await readAt(file, at + LENGTH_BYTES, length);
  if (sealed.length !== length) throw new SealedFileBroken('altered');
  try {
    return [Buffer.from(ring.open(pieceLabel(id, sequence, kind), sealed)), at + LENGTH_BYTES + length];
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    // Only the first piece may be of an unknown key: one file is sealed with one.
    if (error.fault === 'unknown key' && sequence === 0) throw new SealedFileBroken('unknown key', keyIdOf(sealed));
    throw new SealedFileBroken('altered');
  }
}

async function lengthAt(file: FileHandle, at: number): Promise<number> {
  const bytes = await readAt(file, at, LENGTH_BYTES);
  const length = bytes.length === LENGTH_BYTES ? bytes.readUInt32BE() : 0;
  if (length < SEAL_OVERHEAD_BYTES || length > PIECE_BYTES + SEAL_OVERHEAD_BYTES) throw new SealedFileBroken('altered');
  return length;
}

/** Fewer bytes at the end of the file. */
async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes);
  let filled = 0;
  while (filled < bytes) {
    const { bytesRead } = await file.read(buffer, filled, bytes - filled, at + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
