/** What a chunk costs that declares less than it decompresses to, or more than it has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { ChunkCorrupt, decodeChunk } from '../../../src/lib/chunks/chunk.ts';
import { forged, run } from '../../support/chunks/forged-chunk.ts';

const ALL = { after: 0, limit: 1_000_000 };
const HELD_BYTES_MAX = 8 * 1024 * 1024;

test('a chunk that lies about itself is refused before it can cost memory', () => {
  const good = run(1, 1, Buffer.from('a\n'));
  const bomb = zstdCompressSync(Buffer.alloc(64 * 1024 * 1024));
  const lies = [
    forged({ codec: 2, declared: 0xffffffff, payload: bomb }),
    forged({ codec: 2, declared: 1000, payload: bomb }),
    forged({ count: 4_000_000_000, payload: good }),
    forged({ payload: run(1, 1, Buffer.from('a\n'), 0xffffffff) }),
  ];
  const before = process.memoryUsage().arrayBuffers;
  for (const chunk of lies) assert.throws(() => decodeChunk(chunk, ALL), ChunkCorrupt);
  assert.ok(process.memoryUsage().arrayBuffers - before < HELD_BYTES_MAX);
});
