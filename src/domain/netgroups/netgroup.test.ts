import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../../../test/support/seeded.ts';
import { compileNetgroups } from './netgroup.ts';
import { readPrefixList } from './prefix-list.ts';

const group = (name: string, list: string) => ({ name, ...readPrefixList(list) });

test('While no group is defined, every address is away', () => {
  const index = compileNetgroups([]);
  for (const address of ['127.0.0.1', '::ffff:10.0.0.5', '2001:db8::1', '', 'localhost'])
    assert.equal(index.classify(address), 'away');
});

test('T41: The longest prefix has an address, and one exclusion of any group sends it away', () => {
  const index = compileNetgroups([
    group('all', '10.0.0.0/8, 2001:db8::/32, 0.0.0.0/0'),
    group('dc', '10.1.0.0/16, !10.1.9.0/24'),
    group('lab', '10.1.9.128/25, !10.2.0.0/16, ::/0'),
    group('b', '192.0.2.0/24'),
    group('a', '192.0.2.0/24'),
  ]);
  const found = {
    '10.1.2.3': 'dc',
    '::ffff:10.1.2.3': 'dc',
    '::FFFF:a01:203': 'dc',
    '10.3.0.1': 'all',
    '10.1.9.200': 'away',
    '10.2.0.1': 'away',
    '192.0.2.1': 'a',
    '203.0.113.1': 'all',
    '2001:DB8:0::1': 'all',
    '::1': 'lab',
    // No addresses.
    '010.1.2.3': 'away',
    '10.1.2.3/32': 'away',
    '10.1.2': 'away',
    '167838211': 'away',
    '0x0a010203': 'away',
    '2001:db8::1%eth0': 'away',
    '[2001:db8::1]': 'away',
    ' 10.1.2.3': 'away',
  };
  assert.deepEqual(Object.fromEntries(Object.keys(found).map((address) => [address, index.classify(address)])), found);
  assert.deepEqual(index.match('10.1.9.200'), { netgroup: 'dc', prefix: '10.1.9.0/24', isExclusion: true });
  assert.deepEqual(index.match('10.1.2.3'), { netgroup: 'dc', prefix: '10.1.0.0/16', isExclusion: false });
  assert.equal(compileNetgroups([group('six', '::/0')]).match('10.1.2.3'), null);
});

const SETS = 1_000;
const ADDRESSES = 100;
const BITS = { 4: 32, 6: 128 } as const;
const MAPPED = 0xffff_0000_0000n;
const NAMES = ['b', 'a', 'dc-eu', 'dc', 'zz', '0'];

interface ModelPrefix {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly bits: number;
  readonly group: string;
  readonly isExclusion: boolean;
}

const { whole, pick } = seeded(41);

function some(bits: number): bigint {
  let value = 0n;
  for (let left = bits; left > 0; left -= 16) value = (value << 16n) + BigInt(whole(0, 65_535));
  return value;
}

const end = ({ family, bits, first }: ModelPrefix): bigint => first + (1n << BigInt(BITS[family] - bits));
const dotted = (value: bigint): string => [24n, 16n, 8n, 0n].map((at) => (value >> at) & 255n).join('.');
const words = (value: bigint): string[] =>
  Array.from({ length: 8 }, (_, at) => ((value >> BigInt(112 - 16 * at)) & 65_535n).toString(16));

/** An address in one of the spellings of IPv6. */
function spelling6(value: bigint): string {
  const plain = words(value);
  return pick([
    plain.join(':'),
    plain.join(':').toUpperCase(),
    plain.map((each) => each.padStart(4, '0')).join(':'),
    `${plain.slice(0, 6).join(':')}:${dotted(value)}`,
    new URL(`http://[${plain.join(':')}]`).hostname.slice(1, -1),
  ]);
}

function spelling(family: 4 | 6, value: bigint): string {
  return family === 4 && whole(0, 1) === 0 ? dotted(value) : spelling6(family === 4 ? value + MAPPED : value);
}

function written({ family, first, bits, isExclusion }: ModelPrefix): string {
  const text = spelling(family, first);
  return `${isExclusion ? '!' : ''}${text}/${family === 4 && text.includes(':') ? bits + 96 : bits}`;
}

/** Many of its prefixes hold one another, are equal, or are next to one another. */
function modelSet(): ModelPrefix[] {
  const made: ModelPrefix[] = [];
  const count = whole(1, 12);
  while (made.length < count) {
    const near = made.length > 0 && whole(0, 3) > 0 ? pick(made) : null;
    const family = near?.family ?? pick<4 | 6>([4, 6]);
    const isNeighbour = near !== null && near.bits > 0 && whole(0, 3) === 0;
    const bits = isNeighbour || whole(0, 3) === 0 ? (near?.bits ?? 0) : whole(0, BITS[family]);
    const inside = near === null ? some(BITS[family]) : near.first ^ (some(BITS[family]) >> BigInt(near.bits));
    const value = isNeighbour ? near.first ^ (1n << BigInt(BITS[family] - bits)) : inside;
    const first = (value >> BigInt(BITS[family] - bits)) << BigInt(BITS[family] - bits);
    made.push({ family, first, bits, group: pick(NAMES), isExclusion: whole(0, 4) === 0 });
  }
  return made;
}

/** The rule as the contract and its decisions have it: a search through all prefixes. */
function modelGroup(set: readonly ModelPrefix[], family: 4 | 6, value: bigint): string {
  const covering = set.filter((each) => each.family === family && value >= each.first && value < end(each));
  if (covering.some(({ isExclusion }) => isExclusion)) return 'away';
  const longest = Math.max(...covering.map(({ bits }) => bits));
  const names = covering.filter(({ bits }) => bits === longest).map(({ group }) => group);
  return names.toSorted()[0] ?? 'away';
}

/** The groups as an operator writes them; a group needs a prefix, so each has one outside of the others. */
function compiledSet(set: readonly ModelPrefix[]) {
  return compileNetgroups(
    NAMES.map((name) => {
      const own = set.filter((each) => each.group === name).map(written);
      const { prefixes, excludes } = readPrefixList(['192.0.2.1', ...own].join(', '));
      return { name, prefixes: prefixes.slice(own.includes('192.0.2.1/32') ? 0 : 1), excludes };
    }),
  );
}

test('T41: 100,000 addresses get the group that a search through all prefixes finds', () => {
  const seen = new Map<string, number>();
  for (let round = 0; round < SETS; round += 1) {
    const set = modelSet();
    const index = compiledSet(set);
    for (let each = 0; each < ADDRESSES; each += 1) {
      const near = pick(set);
      const { family } = near;
      const edges = [near.first - 1n, near.first, end(near) - 1n, end(near)];
      const value = BigInt.asUintN(BITS[family], whole(0, 3) === 0 ? some(BITS[family]) : pick(edges));
      const [address, group] = [spelling(family, value), modelGroup(set, family, value)];
      const found = index.classify(address);
      // The text of a failure takes longer than the search.
      if (found !== group) assert.equal(found, group, `${address} in ${set.map(written).join(', ')}`);
      seen.set(group, (seen.get(group) ?? 0) + 1);
    }
  }
  // The pairs are no pairs of one sort: every group and away were found many times.
  for (const name of [...NAMES, 'away']) assert.ok((seen.get(name) ?? 0) > 2_000, `${name}: ${seen.get(name)}`);
});
