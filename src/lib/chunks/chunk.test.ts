import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { forged, run } from '../../../test/support/chunks/forged-chunk.ts';
import { ChunkCorrupt, decodeChunk, encodeChunk } from './chunk.ts';
import { CHUNK_RAW_LIMIT_BYTES, ChunkBuilder } from './chunk-builder.ts';
import type { ChunkEvent } from './chunk-event.ts';

const AT_MS = Date.parse('2026-03-04T05:06:07.089Z');
const AT = '2026-03-04T05:06:07.089Z';
const ALL = { after: 0, limit: 1_000_000 };

const MIXED: ChunkEvent[] = [
  { seq: 7, at: AT, type: 'state', state: 'running', exit_code: null },
  { seq: 8, at: AT, type: 'log', stream: 'stdout', text: 'one\ntwo, still the same event' },
  { seq: 9, at: AT, type: 'log', stream: 'stderr', text: '' },
  { seq: 10, at: AT, type: 'progress', play: 'Prepare "web"', task: 'Käse 🧀' },
  { seq: 11, at: AT, type: 'log', stream: 'system', text: 'x'.repeat(64 * 1024) },
  { seq: 12, at: AT, type: 'state', state: 'failed', exit_code: -1 },
];

function linesChunk(firstSeq: number, lines: string[]): Buffer {
  const builder = new ChunkBuilder(firstSeq);
  const data = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  assert.equal(builder.lines('stdout', AT_MS, data, 0), data.length);
  return builder.encode();
}

function texts(events: ChunkEvent[]): string[] {
  return events.map((event) => (event.type === 'log' ? event.text : event.type));
}

void test('events come back as they went in, of every type', () => {
  const chunk = encodeChunk(MIXED);
  assert.deepEqual(decodeChunk(chunk, ALL), MIXED);
});

void test('decoding starts after any seq and stops at any limit', () => {
  const builder = new ChunkBuilder(100);
  builder.lines('stdout', AT_MS, Buffer.from('a\n\nc\n'), 0);
  builder.text('system', AT_MS, Buffer.from('d'));
  builder.lines('stderr', AT_MS, Buffer.from('e\nf\n'), 0);
  builder.lines('stderr', AT_MS + 1, Buffer.from('g\n'), 0);
  const chunk = builder.encode();
  const all = decodeChunk(chunk, ALL);
  assert.deepEqual(texts(all), ['a', '', 'c', 'd', 'e', 'f', 'g']);
  assert.deepEqual(
    all.map((event) => event.seq),
    [100, 101, 102, 103, 104, 105, 106],
  );
  for (let after = 98; after <= 107; after += 1) {
    for (let limit = 0; limit <= 8; limit += 1) {
      assert.deepEqual(decodeChunk(chunk, { after, limit }), all.filter((event) => event.seq > after).slice(0, limit));
    }
  }
});

void test('a driver may hand over a plain Uint8Array', () => {
  const chunk = linesChunk(1, ['hello']);
  const plain = new Uint8Array(chunk.length + 3);
  plain.set(chunk, 3);
  assert.deepEqual(texts(decodeChunk(plain.subarray(3), ALL)), ['hello']);
});

void test('F13: bytes that are no UTF-8 survive in the chunk and become U+FFFD when decoded', () => {
  const hostile = Buffer.from([0x61, 0xff, 0xfe, 0x00, 0xed, 0xa0, 0x80, 0xc3, 0x0d, 0x1b, 0x5b, 0x6d, 0x0a]);
  const builder = new ChunkBuilder(1);
  builder.lines('stdout', AT_MS, hostile, 0);
  assert.ok(builder.encode().includes(hostile), 'the bytes themselves are stored');
  const expected = new TextDecoder('utf-8', { ignoreBOM: true }).decode(hostile.subarray(0, -1));
  assert.deepEqual(texts(decodeChunk(builder.encode(), ALL)), [expected]);
});

void test('lines of one stream and one moment share a run, so a line costs its own bytes and no more', () => {
  const builder = new ChunkBuilder(1);
  for (let i = 0; i < 10; i += 1) builder.lines('stdout', AT_MS, Buffer.from('0123456789\n'), 0);
  assert.equal(builder.rawBytes, 16 + 110);
  builder.lines('stderr', AT_MS, Buffer.from('x\n'), 0);
  builder.lines('stdout', AT_MS, Buffer.from('y\n'), 0);
  assert.equal(builder.rawBytes, 16 + 110 + 18 + 18);
  assert.equal(builder.count, 12);
});

void test('a full chunk takes whole lines only and says how many bytes it took', () => {
  const builder = new ChunkBuilder(1);
  const data = Buffer.alloc(CHUNK_RAW_LIMIT_BYTES + 1000, `${'x'.repeat(99)}\n`).subarray(0, 263_000);
  const taken = builder.lines('stdout', AT_MS, data, 0);
  assert.equal(taken, 262_100);
  assert.equal(builder.lines('stdout', AT_MS, data, taken), 0);
  assert.equal(builder.text('stdout', AT_MS, Buffer.alloc(100)), false);
  assert.equal(builder.count, 2621);
  assert.equal(decodeChunk(builder.encode(), ALL).length, 2621);
});

void test('a line of the greatest length fits a chunk, more than once', () => {
  const builder = new ChunkBuilder(1);
  assert.equal(builder.lines('stdout', AT_MS, Buffer.from(`${'x'.repeat(65_536)}\n`), 0), 65_537);
  assert.equal(builder.text('stderr', AT_MS, Buffer.alloc(65_536)), true);
});

void test('a gap between seqs, no event, or too many bytes is a mistake of the caller', () => {
  assert.throws(() => encodeChunk([]), RangeError);
  assert.throws(() => encodeChunk([MIXED[0]!, MIXED[2]!]), /does not follow/);
  const big: ChunkEvent = { seq: 1, at: AT, type: 'log', stream: 'stdout', text: 'x'.repeat(CHUNK_RAW_LIMIT_BYTES) };
  assert.throws(() => encodeChunk([big]), /more than 262144 bytes/);
});

void test('every single flipped bit of a chunk is an error', () => {
  const chunk = linesChunk(
    5,
    Array.from({ length: 40 }, (_, i) => `line ${i} of the job`),
  );
  for (let bit = 0; bit < chunk.length * 8; bit += 1) {
    const broken = Buffer.from(chunk);
    broken[bit >> 3]! ^= 1 << (bit & 7);
    assert.throws(() => decodeChunk(broken, ALL), ChunkCorrupt, `bit ${bit}`);
  }
});

void test('every truncation of a chunk is an error', () => {
  const chunk = linesChunk(
    5,
    Array.from({ length: 40 }, (_, i) => `line ${i} of the job`),
  );
  for (let length = 0; length < chunk.length; length += 1) {
    assert.throws(() => decodeChunk(chunk.subarray(0, length), ALL), ChunkCorrupt);
  }
});

void test('a chunk that lies about itself is refused with what it lies about', () => {
  const good = run(1, 1, Buffer.from('a\n'));
  assert.equal(decodeChunk(forged({ payload: good }), ALL).length, 1);
  const bomb = zstdCompressSync(Buffer.alloc(64 * 1024 * 1024));
  for (const [chunk, message] of [
    [forged({ codec: 9, payload: good }), /codec 9 is unknown/],
    [forged({ codec: 2, declared: 0xffffffff, payload: bomb }), /declares 4294967295 bytes/],
    [forged({ codec: 2, declared: 1000, payload: bomb }), /decompress to its declared length/],
    [forged({ declared: 17, payload: good }), /holds 18 bytes and declares 17/],
    [forged({ count: 0, payload: good }), /declares 0 events/],
    [forged({ count: 4_000_000_000, payload: good }), /declares 4000000000 events/],
    [forged({ count: 2, payload: good }), /fewer events than it declares/],
    [forged({ payload: run(1, 2, Buffer.from('a\n')) }), /fewer lines than it declares/],
    [forged({ count: 1, payload: Buffer.concat([good, good]) }), /more events than it declares/],
    [forged({ payload: run(1, 1, Buffer.from('a\n'), 0xffffffff) }), /run is malformed/],
    [forged({ payload: run(5, 1, Buffer.from('a')) }), /run is malformed/],
    [forged({ payload: run(3, 1, Buffer.from('{')) }), /not JSON/],
    [forged({ payload: run(3, 1, Buffer.from('["running"]')) }), /record is malformed/],
  ] as const) {
    assert.throws(() => decodeChunk(chunk, ALL), message);
  }
});
