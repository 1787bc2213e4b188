import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { randomBytes } from './random.ts';
import { createKeyring, type Keyring, SEAL_OVERHEAD_BYTES, SealBroken, type SealFileKey } from './seal.ts';

const KEY: SealFileKey = { key: Buffer.alloc(32, 7), createdAt: null };
const NEWER: SealFileKey = { key: Buffer.alloc(32, 8), createdAt: 1_000 };
const LABEL = ['plan', 'art_1', 'net', '4', 'job_1'];
const PLAIN = Buffer.from('the plan file, which terraform runs as it is');

const broken = (fault: SealBroken['fault']) => (error: unknown) => error instanceof SealBroken && error.fault === fault;

/** Refused, and nothing answered. */
function assertRefused(ring: Keyring, label: readonly string[], sealed: Uint8Array, what: string): void {
  assert.throws(
    () => ring.open(label, sealed),
    (error) => error instanceof SealBroken,
    what,
  );
}

/** Whole numbers below `below`, the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describe('what is sealed', () => {
  const ring = createKeyring([KEY]);

  test('is opened under its label, whatever its length', () => {
    for (const length of [0, 1, 15, 16, 17, 4_096, 1_000_003]) {
      const plain = randomBytes(length);
      const sealed = ring.seal(LABEL, plain);
      assert.equal(sealed.length, length + SEAL_OVERHEAD_BYTES);
      assert.deepEqual(Buffer.from(ring.open(LABEL, sealed)), plain);
    }
  });

  test('begins with GHS1 and the id of its key, and holds nothing of the content or the key', () => {
    const sealed = Buffer.from(ring.seal(LABEL, PLAIN));
    assert.equal(sealed.toString('latin1', 0, 4), 'GHS1');
    assert.equal(sealed.toString('hex', 4, 12), ring.activeId);
    for (const part of [PLAIN.subarray(0, 8), KEY.key.subarray(0, 8)]) assert.equal(sealed.includes(part), false);
  });

  test('is never the same twice: a nonce is not used again', () => {
    const nonces = Array.from({ length: 1_000 }, () => Buffer.from(ring.seal(LABEL, PLAIN)).toString('hex', 12, 24));
    assert.equal(new Set(nonces).size, 1_000);
  });

  test('T19: each of 1,000 mutations is refused: flips, cuts, additions, foreign parts, other labels and keys', () => {
    const below = numbers(1);
    const sealed = Buffer.from(ring.seal(LABEL, PLAIN));
    const other = Buffer.from(
      ring.seal(['plan', 'art_2', 'net', '4', 'job_2'], Buffer.from('another plan, of the very same length.......')),
    );
    assert.equal(other.length, sealed.length);
    const mutations: readonly ((n: number) => [label: readonly string[], sealed: Buffer, what: string])[] = [
      () => {
        const [flipped, at] = [Buffer.from(sealed), below(sealed.length)];
        flipped[at]! ^= 1 << below(8);
        return [LABEL, flipped, `a bit of byte ${at}`];
      },
      () => {
        const length = below(sealed.length);
        return [LABEL, sealed.subarray(0, length), `cut to ${length} bytes`];
      },
      () => [LABEL, Buffer.concat([sealed, randomBytes(1 + below(32))]), 'with bytes behind'],
      () => {
        // Begins as the one and ends as the other: the head, the nonce, the tag or the content is a stranger's.
        const at = 12 + below(sealed.length - 24);
        return [LABEL, Buffer.concat([sealed.subarray(0, at), other.subarray(at)]), `the other from byte ${at} on`];
      },
      () => [LABEL, other, 'the other in its place'],
      (n) => {
        const label = [...LABEL];
        const at = below(label.length);
        label[at] = `${label[at]}${n}`;
        return [label, sealed, `another part ${at} of the label`];
      },
      () => [LABEL.toSpliced(below(LABEL.length), 1), sealed, 'a label without one part'],
      () => {
        const at = below(LABEL.length - 1);
        const joint = below(2) === 0 ? '' : '","';
        return [
          LABEL.toSpliced(at, 2, `${LABEL[at]}${joint}${LABEL[at + 1]}`),
          sealed,
          `two parts of the label joined by ${joint}`,
        ];
      },
      () => [
        LABEL,
        Buffer.from(createKeyring([{ key: randomBytes(32), createdAt: null }]).seal(LABEL, PLAIN)),
        'another key',
      ],
      () => {
        // Another key, under the id of ours.
        const foreign = Buffer.from(createKeyring([{ key: randomBytes(32), createdAt: null }]).seal(LABEL, PLAIN));
        sealed.copy(foreign, 4, 4, 12);
        return [LABEL, foreign, 'another key under the id of ours'];
      },
    ];
    for (let n = 0; n < 1_000; n += 1) {
      const [label, bytes, what] = mutations[n % mutations.length]!(n);
      assertRefused(ring, label, bytes, what);
    }
    assert.deepEqual(Buffer.from(ring.open(LABEL, sealed)), PLAIN);
  });

  test('T19: every single flipped bit is refused', () => {
    const sealed = Buffer.from(ring.seal(LABEL, PLAIN));
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const flipped = Buffer.from(sealed);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      assertRefused(ring, LABEL, flipped, `bit ${bit}`);
    }
  });

  test('T19: an older one is not taken for a newer one of the same thing', () => {
    const first = ring.seal(['secret', 'net', 'token', '1'], Buffer.from('old'));
    assertRefused(ring, ['secret', 'net', 'token', '2'], first, 'version 1 as version 2');
  });

  test('says whether it was altered or its key is not here', () => {
    const sealed = ring.seal(LABEL, PLAIN);
    assert.throws(() => ring.open(['other'], sealed), broken('altered'));
    assert.throws(() => ring.open(LABEL, Buffer.from('GHS1')), broken('altered'));
    assert.throws(() => ring.open(LABEL, new Uint8Array(0)), broken('altered'));
    assert.throws(() => createKeyring([NEWER]).open(LABEL, sealed), broken('unknown key'));
  });
});

describe('a keyring', () => {
  test('seals with its last key and opens with each', () => {
    const [before, after] = [createKeyring([KEY]), createKeyring([KEY, NEWER])];
    assert.notEqual(after.activeId, before.activeId);
    assert.deepEqual([before.activeSince, after.activeSince], [null, 1_000]);
    assert.deepEqual(Buffer.from(after.open(LABEL, before.seal(LABEL, PLAIN))), PLAIN);
    assert.deepEqual([after.has(before.activeId), before.has(after.activeId)], [true, false]);
    assert.throws(() => before.open(LABEL, after.seal(LABEL, PLAIN)), broken('unknown key'));
  });

  test('has the same id in every process, and one that says nothing about the key', () => {
    assert.equal(createKeyring([KEY]).activeId, createKeyring([KEY]).activeId);
    assert.match(createKeyring([KEY]).activeId, /^[0-9a-f]{16}$/);
    assert.equal(
      Buffer.from(KEY.key)
        .toString('hex')
        .includes(createKeyring([KEY]).activeId),
      false,
    );
  });

  test('refuses what is no sealed thing as altered', () => {
    const ring = createKeyring([KEY]);
    for (const bytes of [
      new Uint8Array(0),
      Buffer.from('GHS1'),
      Buffer.alloc(100),
      Buffer.from('GHS2'.padEnd(100, 'x')),
    ]) {
      assert.throws(() => ring.open(LABEL, bytes), broken('altered'));
    }
  });

  test('needs a key, and keys of 32 bytes', () => {
    assert.throws(() => createKeyring([]), /needs a key/);
    assert.throws(() => createKeyring([{ key: Buffer.alloc(16), createdAt: null }]), /32 bytes/);
  });
});
