/**
 * The codec of a chunk: consecutive events `first..last`, without a gap, as one compressed block of bytes.
 *
 * Chunk, big-endian: codec (1 byte), first seq (6), count (4), raw length (4), CRC-32 of the header before it and of
 * the payload (4), payload. Raw payload: runs of 16 bytes of header (kind 1, stream 1, time 6, events 4, bytes 4) and
 * their bytes. A run of lines keeps them as they came, each with its `\n`, so that a whole read of a pipe is added with
 * one copy and no work per line; every other event starts a new run. Text is bytes here, and becomes text when
 * decoded.
 */
import { crc32, constants, zstdCompressSync } from 'node:zlib';
import { CHUNK_STREAMS, type ChunkStream } from './chunk-event.ts';
import { FrameCompressor, ZSTD_LEVEL } from './frame-compressor.ts';
import { countNewlines, NEWLINE } from './newlines.ts';

/** Before compression. Four reads of a pipe or four lines of the greatest length; 0.3 ms to open for a reader. */
export const CHUNK_RAW_LIMIT_BYTES = 256 * 1024;

export const HEADER_BYTES = 19;
export const CRC_AT = 15;
export const RUN_BYTES = 16;
export const CODEC_STORED = 1;
export const CODEC_ZSTD = 2;
export const LINES = 1;
export const TEXT = 2;
export const STATE = 3;
export const PROGRESS = 4;

/** Below this a zstd frame is hardly smaller than what it holds, and making it costs 30 us. */
const COMPRESS_FROM_BYTES = 96;

const COMPRESS = { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } };

/** One for the process: it holds no block between two calls, and its context is 1 MB. */
const compressor = new FrameCompressor();

/** Gathers events, raw, until it is full or encoded. A method that returns 0 or false had no room and added nothing. */
export class ChunkBuilder {
  readonly firstSeq: number;
  readonly buffer: Buffer;
  #used = 0;
  #count = 0;
  #run = -1;

  /** `buffer` is written to from its start, at most CHUNK_RAW_LIMIT_BYTES; it may be used again after an encoding. */
  constructor(firstSeq: number, buffer: Buffer = Buffer.allocUnsafe(CHUNK_RAW_LIMIT_BYTES)) {
    this.firstSeq = firstSeq;
    this.buffer = buffer.subarray(0, CHUNK_RAW_LIMIT_BYTES);
  }

  get count(): number {
    return this.#count;
  }

  get rawBytes(): number {
    return this.#used;
  }

  /** Takes the lines of `data` from `start` on that fit; `data` must end with a newline. Answers the bytes taken. */
  lines(stream: ChunkStream, atMs: number, data: Buffer, start: number): number {
    const kind = CHUNK_STREAMS.indexOf(stream);
    const extend = this.#extends(kind, atMs);
    const room = this.buffer.length - this.#used - (extend ? 0 : RUN_BYTES);
    if (room <= 0) return 0;
    let end = data.length;
    if (end - start > room) end = data.lastIndexOf(NEWLINE, start + room - 1) + 1;
    if (end <= start) return 0;
    const count = countNewlines(data, start, end);
    if (!extend) this.#open(LINES, kind, atMs);
    data.copy(this.buffer, this.#used, start, end);
    this.#grow(count, end - start);
    return end - start;
  }

  /** One log event of any bytes. */
  text(stream: ChunkStream, atMs: number, data: Buffer): boolean {
    return this.#single(TEXT, CHUNK_STREAMS.indexOf(stream), atMs, data);
  }

  state(atMs: number, state: string, exitCode: number | null): boolean {
    return this.#single(STATE, 0, atMs, Buffer.from(JSON.stringify([state, exitCode])));
  }

  progress(atMs: number, play: string, task: string): boolean {
    return this.#single(PROGRESS, 0, atMs, Buffer.from(JSON.stringify([play, task])));
  }

  /** The chunk as it is stored, at once: for a few events. 256 KiB hold the thread for 0.56 ms. */
  encode(): Buffer {
    const raw = this.#raw();
    return this.#chunk(raw.length < COMPRESS_FROM_BYTES ? raw : zstdCompressSync(raw, COMPRESS));
  }

  /** The same, compressed on the thread pool. Nothing may be added until then. */
  async encodeAside(): Promise<Buffer> {
    const raw = this.#raw();
    return this.#chunk(raw.length < COMPRESS_FROM_BYTES ? raw : await compressor.compress(raw));
  }

  #raw(): Buffer {
    return this.buffer.subarray(0, this.#used);
  }

  #chunk(packed: Buffer): Buffer {
    const raw = this.#raw();
    const stored = packed.length >= raw.length;
    const payload = stored ? raw : packed;
    const chunk = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
    chunk.writeUInt8(stored ? CODEC_STORED : CODEC_ZSTD, 0);
    chunk.writeUIntBE(this.firstSeq, 1, 6);
    chunk.writeUInt32BE(this.#count, 7);
    chunk.writeUInt32BE(raw.length, 11);
    payload.copy(chunk, HEADER_BYTES);
    chunk.writeUInt32BE(checksum(chunk), CRC_AT);
    return chunk;
  }

  #single(kind: number, stream: number, atMs: number, data: Buffer): boolean {
    if (this.#used + RUN_BYTES + data.length > this.buffer.length) return false;
    this.#open(kind, stream, atMs);
    data.copy(this.buffer, this.#used);
    this.#grow(1, data.length);
    return true;
  }

  #extends(stream: number, atMs: number): boolean {
    const run = this.#run;
    if (run < 0 || this.buffer[run] !== LINES || this.buffer[run + 1] !== stream) return false;
    return this.buffer.readUIntBE(run + 2, 6) === wholeMs(atMs);
  }

  #open(kind: number, stream: number, atMs: number): void {
    const run = this.#used;
    this.buffer[run] = kind;
    this.buffer[run + 1] = stream;
    this.buffer.writeUIntBE(wholeMs(atMs), run + 2, 6);
    this.buffer.fill(0, run + 8, run + RUN_BYTES);
    this.#run = run;
    this.#used += RUN_BYTES;
  }

  #grow(events: number, bytes: number): void {
    const run = this.#run;
    this.buffer.writeUInt32BE(this.buffer.readUInt32BE(run + 8) + events, run + 8);
    this.buffer.writeUInt32BE(this.buffer.readUInt32BE(run + 12) + bytes, run + 12);
    this.#count += events;
    this.#used += bytes;
  }
}

/** CRC-32 of the header before it and of the payload. */
export function checksum(chunk: Buffer): number {
  return crc32(chunk.subarray(HEADER_BYTES), crc32(chunk.subarray(0, CRC_AT)));
}

/** A time is 6 bytes: a clock set before 1970 must not throw in the middle of a job. */
function wholeMs(atMs: number): number {
  return Math.max(0, Math.trunc(atMs));
}
