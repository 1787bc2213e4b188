import { constants, zstdCompressSync } from 'node:zlib';
import { theWorld } from '../world/current.ts';
import { ZSTD_LEVEL } from '../../../src/lib/chunks/frame-compressor.ts';

export { ZSTD_LEVEL } from '../../../src/lib/chunks/frame-compressor.ts';

/** Compresses at once, and answers when the world says: the thread pool has its own order. */
export class FrameCompressor {
  async compress(block: Buffer): Promise<Buffer> {
    const frame = zstdCompressSync(block, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } });
    await theWorld().point('zstd');
    return frame;
  }
}
