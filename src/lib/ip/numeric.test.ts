import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import { test } from 'node:test';
import { seeded } from '../../../test/support/seeded.ts';
import { canonicalAddress } from './address.ts';
import { readAddress } from './numeric.ts';

const words = new Uint32Array(4);

/** Family and words of an address. */
function read(text: string): unknown {
  const family = readAddress(text, words);
  return family === null ? null : [family, ...(family === 4 ? words.slice(3) : words)];
}

test('An address is read in every spelling', () => {
  const found = {
    '0.0.0.0': [4, 0],
    '255.255.255.255': [4, 0xffff_ffff],
    '10.1.2.3': [4, 0x0a01_0203],
    '::ffff:10.1.2.3': [4, 0x0a01_0203],
    '0:0:0:0:0:FFFF:a01:203': [4, 0x0a01_0203],
    '::': [6, 0, 0, 0, 0],
    '::1': [6, 0, 0, 0, 1],
    '1::': [6, 0x1_0000, 0, 0, 0],
    '2001:db8::8:800:200C:417a': [6, 0x2001_0db8, 0, 0x0008_0800, 0x200c_417a],
    '1:2:3:4:5:6:7:8': [6, 0x0001_0002, 0x0003_0004, 0x0005_0006, 0x0007_0008],
    '::10.1.2.3': [6, 0, 0, 0, 0x0a01_0203],
    '64:ff9b::1.2.3.4': [6, 0x0064_ff9b, 0, 0, 0x0102_0304],
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff': [6, ...Array<number>(4).fill(0xffff_ffff)],
  };
  assert.deepEqual(Object.fromEntries(Object.keys(found).map((text) => [text, read(text)])), found);
});

const PIECES = ['0', '1', '10', '255', '256', '01', '00', 'ffff', 'F', 'abcd', '12345', 'g', '.', ':', '::', '%1', ' '];
const DIGITS = ['0', '7', '10'];

test('T41: exactly the texts that Node takes for addresses without a zone are read', () => {
  const { whole, pick } = seeded(7);
  const counts = { four: 0, six: 0, none: 0 };
  for (let round = 0; round < 40_000; round += 1) {
    const separator = pick(['.', ':', ':', '']);
    const parts = Array.from({ length: pick([4, 7, 8, whole(1, 9)]) }, () => pick(pick([PIECES, DIGITS])));
    const text = parts.join(separator) + (whole(0, 4) === 0 ? '1.2.3.4' : '');
    const isFour = isIPv4(text);
    const isSix = isIPv6(text) && !text.includes('%');
    const canonical = canonicalAddress(text);
    const family = canonical === null ? null : isIPv4(canonical) ? 4 : 6;
    assert.equal(readAddress(text, words), family, text);
    counts[isFour ? 'four' : isSix ? 'six' : 'none'] += 1;
  }
  assert.ok(counts.four > 300 && counts.six > 1_000, JSON.stringify(counts));
});
