import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Kinds of addresses. Only `public` addresses are reachable on the internet. */
export type AddressClass =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'metadata'
  | 'multicast'
  | 'unspecified'
  | 'broadcast'
  | 'shared'
  | 'documentation'
  | 'benchmarking'
  | 'reserved';

type Row = readonly [is: AddressClass, prefixes: readonly string[]];

/** The first row that covers an address decides. An IPv4 address that no row covers is public. */
const V4: readonly Row[] = [
  ['unspecified', ['0.0.0.0/32']],
  ['broadcast', ['255.255.255.255/32']],
  // Metadata services of clouds answer here, also with credentials.
  ['metadata', ['169.254.169.254/32', '169.254.170.2/32', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32']],
  ['loopback', ['127.0.0.0/8']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']],
  ['link-local', ['169.254.0.0/16']],
  ['shared', ['100.64.0.0/10']],
  ['documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24']],
  ['benchmarking', ['198.18.0.0/15']],
  ['multicast', ['224.0.0.0/4']],
  ['reserved', ['0.0.0.0/8', '192.0.0.0/24', '192.88.99.0/24', '240.0.0.0/4']],
];

/** An IPv6 address that no row covers is reserved, so an unknown form is refused. */
const V6: readonly Row[] = [
  ['unspecified', ['::/128']],
  ['loopback', ['::1/128']],
  ['metadata', ['fd00:ec2::254/128', 'fd20:ce::254/128']],
  ['private', ['fc00::/7', 'fec0::/10']],
  ['link-local', ['fe80::/10']],
  ['multicast', ['ff00::/8']],
  ['documentation', ['2001:db8::/32', '3fff::/20']],
  ['benchmarking', ['2001:2::/48']],
  ['reserved', ['2001::/23']],
  ['public', ['2000::/3']],
];

const IPV4_BITS = 32;
const IPV6_BITS = 128;
/** `::ffff:` and two groups: an IPv4 address as a dual-stack socket shows it. The text is in canonical form. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

const V4_CLASSES = compiled(V4);
const V6_CLASSES = compiled(V6);

/** Forms of IPv6 that carry an IPv4 address, and which bytes carry it: packets to them reach that address. */
const CARRIERS: readonly {
  readonly prefix: BlockList;
  readonly carried: (bytes: Uint8Array) => readonly Uint8Array[];
}[] = [
  { prefix: blockListOf(['::ffff:0:0:0/96']), carried: (bytes) => [bytes.subarray(12)] }, // IPv4-translated
  { prefix: blockListOf(['64:ff9b::/96']), carried: (bytes) => [bytes.subarray(12)] }, // NAT64
  { prefix: blockListOf(['2002::/16']), carried: (bytes) => [bytes.subarray(2, 6)] }, // 6to4
  // Teredo: its server, and the client with each bit inverted.
  {
    prefix: blockListOf(['2001::/32']),
    carried: (bytes) => [bytes.subarray(4, 8), bytes.subarray(12).map((byte) => 255 - byte)],
  },
];

/**
 * The addresses that each part of the program accepts. `destination` resolves the IPv6 forms that carry an IPv4
 * address, because a packet to them arrives there. `own` does not: a listener or a peer with such an address is not the
 * machine that the carried address names.
 */
const POLICIES = {
  /** Registered push endpoints: anyone with a token can name them. */
  push: { as: 'destination', allows: ['public'] },
  /** Git sources are added on the machine. A git server on the same machine or network is usual. */
  git: { as: 'destination', allows: ['public', 'loopback', 'private', 'shared', 'documentation', 'benchmarking'] },
  /** Targets of checks, which an operator's token can name: the network, but never this machine or its metadata. */
  probe: { as: 'destination', allows: ['public', 'private', 'shared', 'documentation', 'benchmarking'] },
  /** Listeners that only this machine may reach, and peers whose connections are not limited by address. */
  loopback: { as: 'own', allows: ['loopback'] },
  /** A proxy has an address of one machine. */
  trustedProxy: {
    as: 'own',
    allows: ['public', 'loopback', 'private', 'link-local', 'shared', 'documentation', 'benchmarking'],
  },
} as const satisfies Record<string, { readonly as: 'destination' | 'own'; readonly allows: readonly AddressClass[] }>;

/** Names by which clouds answer at the metadata addresses of the table, also with credentials. */
const METADATA_NAMES: readonly RegExp[] = [
  /^metadata(?:\.goog|\.google\.internal|\.azure\.internal|\.tencentyun\.com)?$/,
  /^instance-data(?:\.ec2\.internal|\.[a-z0-9-]+\.compute\.internal)?$/,
  /^api\.metadata\.cloud\.ibm\.com$/,
];

type AddressUse = keyof typeof POLICIES;

/** Whether this use allows an IP literal. False for text that is no address. */
export function allowsAddress(use: AddressUse, text: string): boolean {
  const { as, allows } = POLICIES[use];
  const kind = as === 'own' ? classifyOwn(text) : classifyAddress(text);
  return kind !== null && (allows as readonly AddressClass[]).includes(kind);
}

/**
 * The canonical form of an IP literal: lower case, IPv6 shortened as in RFC 5952, an IPv4-mapped address as IPv4. Null
 * for any other text, and for an address with a zone: a zone names an interface that only this machine knows.
 */
export function canonicalAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes('%')) return null;
  const shortened = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [, high, low] = MAPPED.exec(shortened) ?? [];
  return high === undefined || low === undefined
    ? shortened
    : dotted(Buffer.from(high.padStart(4, '0') + low.padStart(4, '0'), 'hex'));
}

/** The canonical form of a peer's address, without the zone of a link; other text as it is, in lower case. */
export function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/s, '').toLowerCase();
  return canonicalAddress(bare) ?? bare;
}

/**
 * The class of the address that packets to an IP literal reach; null for any other text. A carrier is public only if
 * every address that it carries is.
 */
export function classifyAddress(text: string): AddressClass | null {
  const classes = destinationsOf(text).map(classOf);
  return classes.find((each) => each !== 'public') ?? classes[0] ?? null;
}

/**
 * The addresses that packets to an IP literal reach, in canonical form: itself, or those that it carries. Empty for any
 * other text.
 */
export function destinationsOf(text: string): readonly string[] {
  const address = canonicalAddress(text);
  if (address === null || isIPv4(address)) return address === null ? [] : [address];
  const carrier = CARRIERS.find(({ prefix }) => prefix.check(address, 'ipv6'));
  return carrier === undefined ? [address] : carrier.carried(bytesOf(address)).map(dotted);
}

/** The class with its article: `a loopback address`, `an unspecified address`. Null gives `a malformed address`. */
export function addressWords(kind: AddressClass | null): string {
  const word = kind ?? 'malformed';
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word} address`;
}

/**
 * Whether a host name is a known one of a metadata service, in any case, with a dot at its end or not. What other names
 * resolve to is not known here.
 */
export function isMetadataName(name: string): boolean {
  const plain = name.toLowerCase().replace(/\.$/, '');
  return METADATA_NAMES.some((names) => names.test(plain));
}

/** The part of a canonical address that one customer usually has: an IPv4 address, or the /64 of an IPv6 address. */
export function customerPrefix(address: string): string {
  return isIPv4(address) ? address : `${bytesOf(address).toString('hex', 0, 8)}::/64`;
}

/** A set of prefixes. Asks with a canonical address. */
export interface AddressSet {
  includes(address: string): boolean;
}

/** Null if a text is neither a prefix (`10.0.0.0/8`, `fd00::/8`) nor an address, which is a prefix of one address. */
export function addressSet(prefixes: readonly string[]): AddressSet | null {
  const parsed = prefixes.map(parsePrefix);
  if (!parsed.every((each) => each !== null)) return null;
  const list = new BlockList();
  for (const { address, bits, family } of parsed) list.addSubnet(address, bits, family);
  return { includes: (address) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') };
}

interface Prefix {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Null for any other text, also for IPv4-mapped IPv6, which would cover nothing: it is not a canonical form. */
export function parsePrefix(text: string): Prefix | null {
  const [, address = '', length] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const max = isIPv4(address) ? IPV4_BITS : IPV6_BITS;
  const bits = length === undefined ? max : Number(length);
  const plain = canonicalAddress(address);
  if (plain === null || bits > max || (max === IPV6_BITS && isIPv4(plain))) return null;
  return { address: plain, bits, family: max === IPV4_BITS ? 'ipv4' : 'ipv6' };
}

function classifyOwn(text: string): AddressClass | null {
  const address = canonicalAddress(text);
  return address === null ? null : classOf(address);
}

function classOf(address: string): AddressClass {
  if (isIPv4(address)) return V4_CLASSES.find(({ prefixes }) => prefixes.check(address, 'ipv4'))?.is ?? 'public';
  return V6_CLASSES.find(({ prefixes }) => prefixes.check(address, 'ipv6'))?.is ?? 'reserved';
}

function compiled(rows: readonly Row[]): readonly { readonly is: AddressClass; readonly prefixes: BlockList }[] {
  return rows.map(([is, prefixes]) => ({ is, prefixes: blockListOf(prefixes) }));
}

function blockListOf(prefixes: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of prefixes) {
    const [address = '', bits] = text.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** The 16 bytes of an IPv6 address in canonical form. */
function bytesOf(address: string): Buffer {
  const [front = '', back] = address.split('::').map((half) =>
    half
      .split(':')
      .filter((word) => word !== '')
      .map((word) => word.padStart(4, '0'))
      .join(''),
  );
  return Buffer.from(front + (back ?? '').padStart(IPV6_BITS / 4 - front.length, '0'), 'hex');
}

function dotted(four: Uint8Array): string {
  return four.join('.');
}
