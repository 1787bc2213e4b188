/** Streams of zstd without the thread pool: all of it at its end, which comes when the world says. */
import { Transform } from 'node:stream';
import zlib, { type ZstdCompress, type ZstdDecompress, type ZstdOptions } from 'node:zlib';
import { running, theWorld } from '../../world/current.ts';

const PART_BYTES = 64 * 1024;

export function createZstdCompress(options: ZstdOptions = {}): ZstdCompress {
  if (running() === null) return zlib.createZstdCompress(options);
  return atItsEnd((all) => zlib.zstdCompressSync(all, options), options) as unknown as ZstdCompress;
}

export function createZstdDecompress(options: ZstdOptions = {}): ZstdDecompress {
  if (running() === null) return zlib.createZstdDecompress(options);
  return atItsEnd((all) => zlib.zstdDecompressSync(all, options), options) as unknown as ZstdDecompress;
}

function atItsEnd(work: (all: Buffer) => Buffer, { chunkSize = PART_BYTES }: ZstdOptions): Transform {
  const parts: Buffer[] = [];
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      parts.push(part);
      theWorld().add('zlib', 0, () => done());
    },
    flush(done) {
      try {
        const made = work(Buffer.concat(parts));
        for (let at = 0; at < made.length; at += chunkSize) this.push(made.subarray(at, at + chunkSize));
      } catch (error) {
        return done(error as Error);
      }
      theWorld().add('zlib', 0, () => done());
    },
  });
}
