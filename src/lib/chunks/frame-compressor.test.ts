import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { FrameCompressor } from './frame-compressor.ts';

void test('each block becomes a separate frame, also when many are requested at once', async () => {
  const compressor = new FrameCompressor();
  const blocks = [0, 1, 100, 65_536, 262_144, 1_000_000].flatMap((length) => [
    randomBytes(length),
    Buffer.alloc(length, 'a line of the job\n'),
  ]);
  const frames = await Promise.all(blocks.map((block) => compressor.compress(block)));
  for (const [i, block] of blocks.entries()) {
    assert.ok(zstdDecompressSync(frames[i]!).equals(block), `block ${i}`);
    assert.deepEqual(frames[i]!.subarray(0, 4), Buffer.from([0x28, 0xb5, 0x2f, 0xfd]));
  }
});

void test('a thousand blocks one after another come out as they went in', async () => {
  const compressor = new FrameCompressor();
  for (let i = 0; i < 1000; i += 1) {
    const block = Buffer.from(`block ${i} `.repeat(1 + (i % 300)));
    assert.ok(zstdDecompressSync(await compressor.compress(block)).equals(block), `block ${i}`);
  }
});
