import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { createKeyring, type Keyring } from '../seal.ts';
import { DIGEST_BYTES, LENGTH_BYTES, PIECE_BYTES, SealedFileBroken } from './format.ts';
import { openSealedFile } from './read.ts';
import { type SealedFileFacts, writeSealedFile } from './write.ts';

const RING = createKeyring([{ key: Buffer.alloc(32, 1), createdAt: null }]);
const OTHER = createKeyring([{ key: Buffer.alloc(32, 2), createdAt: null }]);
const NEVER = new AbortController().signal;
const HEAD = { made: 'by a test' };

let dir = '';
let count = 0;
const newPath = (): string => join(dir, `file-${(count += 1)}`);

async function sealed(content: Buffer, id = 'bak_1'): Promise<{ path: string; facts: SealedFileFacts }> {
  const path = newPath();
  const facts = await writeSealedFile(path, {
    id,
    ring: RING,
    head: HEAD,
    content: Readable.from([content], { objectMode: false }),
    signal: NEVER,
  });
  return { path, facts };
}

async function read(path: string, ring: Pick<Keyring, 'open'> = RING): Promise<{ head: unknown; content: Buffer }> {
  const file = await openSealedFile(path);
  try {
    const head = await file.head(ring);
    const parts: Buffer[] = [];
    await file.content(ring, async (content) => {
      for await (const part of content) parts.push(part);
    });
    return { head, content: Buffer.concat(parts) };
  } finally {
    await file.close();
  }
}

async function faultOf(path: string, ring: Pick<Keyring, 'open'> = RING): Promise<string> {
  try {
    await read(path, ring);
    return 'none';
  } catch (error) {
    if (error instanceof SealedFileBroken) return error.fault;
    throw error;
  }
}

/** With another content and a digest that fits it: what someone without the key can do. */
function forge(path: string, change: (bytes: Buffer) => Buffer): string {
  const body = change(readFileSync(path).subarray(0, -DIGEST_BYTES));
  const forged = newPath();
  writeFileSync(forged, Buffer.concat([body, createHash('sha256').update(body).digest()]));
  return forged;
}

/** Where the frames of a file begin, and where the last one ends. */
function frames(bytes: Buffer): number[] {
  const starts = [bytes.indexOf('\n') + 1];
  for (;;) {
    const at = starts.at(-1) ?? 0;
    const length = bytes.readUInt32BE(at);
    if (length === 0) return starts;
    starts.push(at + LENGTH_BYTES + length);
  }
}

describe('A sealed file', () => {
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'gatehouse-sealed-file-'));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  for (const [name, content] of Object.entries({
    'no content': Buffer.alloc(0),
    'a short one': Buffer.from('a few words'),
    'one of a piece': randomBytes(PIECE_BYTES),
    'one of several pieces': randomBytes(3 * PIECE_BYTES + 17),
    'one that compresses well': Buffer.alloc(8 * PIECE_BYTES, 'the same again '),
  })) {
    test(`gives back ${name} and its head`, async () => {
      const { path, facts } = await sealed(content);
      const back = await read(path);
      assert.deepEqual(back.head, HEAD);
      assert.ok(back.content.equals(content));
      assert.equal(statSync(path).mode & 0o777, 0o600);
      const bytes = readFileSync(path);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      assert.deepEqual(facts, { sizeBytes: bytes.length, sha256 });
    });
  }

  test('F32: is refused as damaged with any one bit flipped', async () => {
    const { path } = await sealed(randomBytes(2 * PIECE_BYTES));
    const bytes = readFileSync(path);
    const firstLine = bytes.indexOf('\n') + 1;
    const faults = new Map<string, number>();
    for (let i = 0; i < 100; i += 1) {
      const at = firstLine + Math.floor(((bytes.length - firstLine) * i) / 100);
      const copy = newPath();
      const damaged = Buffer.from(bytes);
      damaged.writeUInt8(damaged.readUInt8(at) ^ (1 << (i % 8)), at);
      writeFileSync(copy, damaged);
      const fault = await faultOf(copy);
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
      rmSync(copy);
    }
    assert.deepEqual([...faults], [['damaged', 100]]);
  });

  test('F32: is refused with a bit of its first line flipped', async () => {
    const { path } = await sealed(Buffer.from('content'));
    for (let at = 0; at <= readFileSync(path).indexOf('\n'); at += 1) {
      const copy = newPath();
      const bytes = readFileSync(path);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      writeFileSync(copy, bytes);
      assert.notEqual(await faultOf(copy), 'none', `byte ${at}`);
    }
  });

  test('F32: is refused as damaged when it was cut at any length', async () => {
    const { path } = await sealed(randomBytes(PIECE_BYTES + 1));
    const { size } = statSync(path);
    const firstLine = readFileSync(path).indexOf('\n') + 1;
    for (const length of [firstLine, firstLine + 3, 200, size - DIGEST_BYTES, size - 1, Math.floor(size / 2)]) {
      const copy = newPath();
      copyFileSync(path, copy);
      truncateSync(copy, length);
      assert.equal(await faultOf(copy), 'damaged', `${length} bytes`);
    }
  });

  test('is refused as sealed with another key, and names that key', async () => {
    const { path } = await sealed(Buffer.from('content'));
    const file = await openSealedFile(path);
    await assert.rejects(file.head(OTHER), (error: SealedFileBroken) => {
      assert.equal(error.fault, 'unknown key');
      assert.equal(error.keyId, RING.activeId);
      return true;
    });
    await file.close();
  });

  test('is refused as altered with a piece changed, left out, moved or repeated, though its digest fits', async () => {
    const { path } = await sealed(randomBytes(3 * PIECE_BYTES));
    const [head = 0, one = 0, two = 0, three = 0, ...rest] = frames(readFileSync(path));
    const [tail = 0, end = 0] = rest.slice(-2);
    const forgeries: Record<string, (bytes: Buffer) => Buffer> = {
      changed: (bytes) => {
        bytes.writeUInt8(bytes.readUInt8(two - 1) ^ 1, two - 1);
        return bytes;
      },
      'left out': (bytes) => Buffer.concat([bytes.subarray(0, one), bytes.subarray(two)]),
      moved: (bytes) =>
        Buffer.concat([
          bytes.subarray(0, one),
          bytes.subarray(two, three),
          bytes.subarray(one, two),
          bytes.subarray(three),
        ]),
      repeated: (bytes) => Buffer.concat([bytes.subarray(0, two), bytes.subarray(one, two), bytes.subarray(two)]),
      'without its end': (bytes) => Buffer.concat([bytes.subarray(0, tail), bytes.subarray(end)]),
      'without anything': (bytes) => Buffer.concat([bytes.subarray(0, head), bytes.subarray(end)]),
      'with more behind its end': (bytes) =>
        Buffer.concat([bytes.subarray(0, end), bytes.subarray(one, two), bytes.subarray(end)]),
      'under another id': (bytes) => Buffer.concat([Buffer.from('gatehouse-sealed-1 bak_2\n'), bytes.subarray(head)]),
    };
    for (const [name, change] of Object.entries(forgeries))
      assert.equal(await faultOf(forge(path, change)), 'altered', name);
  });

  test('differs from other files, and from those of a newer build', async () => {
    const path = newPath();
    for (const [content, fault] of [
      ['', 'not one'],
      ['SQLite format 3\0', 'not one'],
      ['gatehouse-sealed-1', 'not one'],
      ['gatehouse-sealed-2 bak_1\nanything', 'newer'],
      ['gatehouse-sealed-1 bak_1\n', 'damaged'],
    ] as const) {
      writeFileSync(path, content);
      assert.equal(await faultOf(path), fault, content);
    }
    await assert.rejects(openSealedFile(dir), (error: SealedFileBroken) => error.fault === 'not one');
  });

  test('leaves nothing behind when its content fails or the writer is stopped', async () => {
    const broken = newPath();
    const failing = Readable.from(
      (function* () {
        yield randomBytes(2 * PIECE_BYTES);
        throw new Error('the disk of the content is gone');
      })(),
      { objectMode: false },
    );
    const order = { id: 'bak_1', ring: RING, head: HEAD, content: failing, signal: NEVER };
    await assert.rejects(writeSealedFile(broken, order), /the disk of the content is gone/);
    assert.equal(existsSync(broken), false);

    const stop = new AbortController();
    const endless = Readable.from(
      (function* () {
        for (;;) {
          yield randomBytes(PIECE_BYTES);
          stop.abort(new Error('stopped'));
        }
      })(),
      { objectMode: false },
    );
    const stopped = newPath();
    const again = { ...order, content: endless, signal: stop.signal };
    await assert.rejects(writeSealedFile(stopped, again), { name: 'AbortError' });
    assert.equal(existsSync(stopped), false);
  });

  test('replaces no file', async () => {
    const path = newPath();
    writeFileSync(path, 'mine');
    const content = Readable.from([Buffer.from('theirs')], { objectMode: false });
    await assert.rejects(writeSealedFile(path, { id: 'bak_1', ring: RING, head: HEAD, content, signal: NEVER }), {
      code: 'EEXIST',
    });
    assert.equal(readFileSync(path, 'utf8'), 'mine');
  });
});
