/** Lists of prefixes, which operators write, and addresses to classify, which senders claim. */
import assert from 'node:assert/strict';
import { isIPv4 } from 'node:net';
import * as fc from 'fast-check';
import { canonicalAddress } from '../../../src/lib/ip/address.ts';
import { compileNetgroups } from '../../../src/domain/netgroups/netgroup.ts';
import { readAddress } from '../../../src/lib/ip/numeric.ts';
import { NETGROUP_LIMITS, readPrefixList } from '../../../src/domain/netgroups/prefix-list.ts';
import { type FuzzTarget, fuzzTarget, unlessRefused } from './target.ts';
import { texts } from './texts.ts';

const PIECES = [
  '10.0.0.0',
  '10.1.2.3',
  '::ffff:',
  '2001:db8::',
  'fe80::1',
  '::',
  ':',
  '.',
  '1',
  '0',
  '255',
  'ffff',
  '/8',
  '/104',
  '/0',
  '/',
  '/129',
  ',',
  ',',
  '!',
  ' ',
  '%eth0',
  '010.',
];

const words = new Uint32Array(4);
const prefix = fc.oneof(
  fc.tuple(fc.ipV4(), fc.nat(32)).map(([address, bits]) => `${address}/${bits}`),
  fc.tuple(fc.ipV6(), fc.nat(128)).map(([address, bits]) => `${address}/${bits}`),
);
const list = fc
  .array(fc.tuple(fc.constantFrom('', '', '!', ' ! '), prefix), { minLength: 1, maxLength: 40 })
  .map((members) => members.map(([mark, text]) => mark + text).join(','));

export const NETGROUP_TARGETS: readonly FuzzTarget[] = [
  fuzzTarget('netgroup-prefixes', fc.oneof(list, texts(PIECES)), (text) =>
    unlessRefused(() => {
      const read = readPrefixList(text);
      const { prefixes, excludes } = read;
      assert.ok(prefixes.length > 0 && prefixes.length + excludes.length <= NETGROUP_LIMITS.prefixesEach);
      const written = [...prefixes, ...excludes.map((each) => `!${each}`)].join(',');
      assert.deepEqual(readPrefixList(written), read);
      const index = compileNetgroups([{ name: 'a', ...read }]);
      for (const each of prefixes) {
        const [address = ''] = each.split('/');
        assert.equal(canonicalAddress(address), address);
        assert.ok(index.match(address) !== null);
      }
      for (const each of excludes) assert.equal(index.match(each.split('/')[0] ?? '')?.isExclusion, true);
    }),
  ),
  fuzzTarget('netgroup-address', fc.oneof(texts(PIECES, 4_096), fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), (text) => {
    const canonical = canonicalAddress(text);
    const family = readAddress(text, words);
    assert.equal(family, canonical === null ? null : isIPv4(canonical) ? 4 : 6);
    if (canonical === null) return;
    const read = [...words.subarray(family === 4 ? 3 : 0)];
    assert.equal(readAddress(canonical, words), family);
    assert.deepEqual([...words.subarray(family === 4 ? 3 : 0)], read);
  }),
];
