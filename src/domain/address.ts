import { isIPv4, isIPv6 } from 'node:net';

/** Kinds of addresses. Only `public` is one that anybody on the internet may have. */
export type AddressClass =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'metadata'
  | 'multicast'
  | 'unspecified'
  | 'broadcast'
  | 'reserved';

type Row = readonly [prefix: string, bits: number, is: AddressClass];

/** The first row that matches decides. */
const V4: readonly Row[] = [
  ['0.0.0.0', 32, 'unspecified'],
  ['255.255.255.255', 32, 'broadcast'],
  // Where clouds answer questions of a machine about itself, credentials among them.
  ['169.254.169.254', 32, 'metadata'],
  ['169.254.170.2', 32, 'metadata'],
  ['168.63.129.16', 32, 'metadata'],
  ['100.100.100.200', 32, 'metadata'],
  ['192.0.0.192', 32, 'metadata'],
  ['0.0.0.0', 8, 'reserved'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'reserved'], // Shared by the customers of a provider.
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'reserved'], // Documentation, as the next three of /24 are, or benchmarks.
  ['192.88.99.0', 24, 'reserved'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'reserved'],
  ['198.51.100.0', 24, 'reserved'],
  ['203.0.113.0', 24, 'reserved'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
];

const V6: readonly Row[] = [
  ['::', 128, 'unspecified'],
  ['::1', 128, 'loopback'],
  ['fd00:ec2::254', 128, 'metadata'],
  ['fd20:ce::254', 128, 'metadata'],
  ['fc00::', 7, 'private'],
  ['fe80::', 10, 'link-local'],
  ['fec0::', 10, 'private'],
  ['ff00::', 8, 'multicast'],
  ['2001:db8::', 32, 'reserved'],
  ['2001::', 23, 'reserved'],
  ['3fff::', 20, 'reserved'],
  ['2000::', 3, 'public'],
];

const V4_ROWS = V4.map(([prefix, bits, is]) => ({ prefix: bytesOf(prefix), bits, is }));
const V6_ROWS = V6.map(([prefix, bits, is]) => ({ prefix: bytesOf(prefix), bits, is }));

/** Forms of IPv6 that carry an IPv4 address, and where it stands: packets to them reach that one. */
const CARRIERS: readonly { readonly prefix: Uint8Array; readonly bits: number; readonly carried: (bytes: Uint8Array) => readonly Uint8Array[] }[] = [
  { prefix: bytesOf('::ffff:0:0'), bits: 96, carried: (bytes) => [bytes.subarray(12)] }, // IPv4-mapped
  { prefix: bytesOf('::ffff:0:0:0'), bits: 96, carried: (bytes) => [bytes.subarray(12)] }, // IPv4-translated
  { prefix: bytesOf('64:ff9b::'), bits: 96, carried: (bytes) => [bytes.subarray(12)] }, // NAT64
  { prefix: bytesOf('2002::'), bits: 16, carried: (bytes) => [bytes.subarray(2, 6)] }, // 6to4
  // Teredo: its server, and the client with each bit turned round.
  { prefix: bytesOf('2001::'), bits: 32, carried: (bytes) => [bytes.subarray(4, 8), bytes.subarray(12).map((byte) => byte ^ 0xff)] },
];

/**
 * What kind of address an IP literal is; null for text that is none. Looks through the forms of IPv6 that carry an
 * IPv4 address: these are public only where all that they carry is. What no row names is `reserved`, so that a form
 * nobody thought of is refused.
 */
export function classifyAddress(text: string): AddressClass | null {
  if (isIPv4(text)) return classOf(bytesOf(text), V4_ROWS) ?? 'public';
  // A zone says through which interface: it never stands in an address that others may dial.
  if (!isIPv6(text) || text.includes('%')) return null;
  const bytes = bytesOf(text);
  const carrier = CARRIERS.find(({ prefix, bits }) => startsWith(bytes, prefix, bits));
  if (carrier === undefined) return classOf(bytes, V6_ROWS) ?? 'reserved';
  const classes = carrier.carried(bytes).map((four) => classOf(four, V4_ROWS) ?? 'public');
  return classes.find((each) => each !== 'public') ?? 'public';
}

/** The class with its article, for a sentence: `a loopback address`, `an unspecified address`. Null is `a malformed address`. */
export function addressWords(kind: AddressClass | null): string {
  const word = kind ?? 'malformed';
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word} address`;
}

function classOf(bytes: Uint8Array, rows: readonly { prefix: Uint8Array; bits: number; is: AddressClass }[]): AddressClass | undefined {
  return rows.find(({ prefix, bits }) => startsWith(bytes, prefix, bits))?.is;
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array, bits: number): boolean {
  const whole = bits >> 3;
  for (let i = 0; i < whole; i += 1) if (bytes[i] !== prefix[i]) return false;
  const mask = 0xff00 >> (bits & 7);
  return (bits & 7) === 0 || ((bytes[whole] ?? 0) & mask & 0xff) === ((prefix[whole] ?? 0) & mask & 0xff);
}

/** The 4 or 16 bytes of a valid literal. */
function bytesOf(text: string): Uint8Array {
  if (!text.includes(':')) return Uint8Array.from(text.split('.'), Number);
  const [head = '', tail] = text.split('::');
  const front = wordsOf(head);
  const back = tail === undefined ? [] : wordsOf(tail);
  const gap = Array.from({ length: 8 - front.length - back.length }, () => 0);
  return Uint8Array.from([...front, ...gap, ...back].flatMap((word) => [word >> 8, word & 0xff]));
}

function wordsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((part) => {
    if (!part.includes('.')) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}
