import { Failure } from '../domain/failure.ts';

/** The kinds of target that `--notify` takes, and which schemes stand for each. */
const TARGET_SCHEMES = {
  'ntfy+https': 'ntfy',
  'ntfy+http': 'ntfy',
  smtp: 'mail',
  smtps: 'mail',
  https: 'webhook',
  http: 'webhook',
} as const;
type TargetScheme = keyof typeof TARGET_SCHEMES;
export type TargetKind = (typeof TARGET_SCHEMES)[TargetScheme];

export interface TargetUrl {
  readonly kind: TargetKind;
  /** Of ntfy without `ntfy+`: by that scheme it is sent. */
  readonly url: URL;
}

type Refuse = (why: string) => never;

const FORM = /^([a-z][a-z0-9+]*):\/\/(?:([^/?#]*)@)?([^/?#@]*)/i;
const PORT_MAX = 65_535;
/** Letters are those of a name, of IDN too; what else an authority could hold is a mistake in writing. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[\p{L}\p{M}\p{N}_.-]+)$/iu;
/** Those of the ntfy server itself. */
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;
const ADDRESS = /^[^\s@,<>"]+@[^\s@,<>"]+$/;

/**
 * Reads a target of `--notify`. `position` counts from 1. Throws invalid_argument that says what is wrong and never
 * repeats any of the URL, which may hold a password.
 */
export function readTargetUrl(text: string, position: number): TargetUrl {
  const refuse: Refuse = (why) => {
    throw new Failure('invalid_argument', `--notify: target ${position} ${why}.`);
  };
  const [, scheme = '', user, authority = ''] = FORM.exec(text) ?? [];
  const kind = kindOf(scheme.toLowerCase());
  if (kind === null) return refuse('is none of ntfy+https://, ntfy+http://, smtp://, smtps://, https:// and http://');
  // Before all else: what follows a # in a password would be taken for the end of the URL.
  if (text.includes('#')) return refuse('has a fragment, which is never sent; a # of a password is written %23');
  if (text.includes('\\')) return refuse('has a backslash, which is written %5C');
  requireAuthority(authority, refuse);
  const plain = text.replace(/^ntfy\+/i, '');
  if (!URL.canParse(plain)) return refuse('cannot be read as a URL');
  const url = new URL(plain);
  if (user !== undefined) requireCredentials(url, kind, refuse);
  REQUIRE[kind](url, refuse);
  return { kind, url };
}

function kindOf(scheme: string): TargetKind | null {
  return Object.hasOwn(TARGET_SCHEMES, scheme) ? TARGET_SCHEMES[scheme as TargetScheme] : null;
}

function requireAuthority(authority: string, refuse: Refuse): void {
  const [, host = '', port] = /^(\[[^\]]*\]|\[.*|[^:]*)(?::(.*))?$/.exec(authority) ?? [];
  if (host === '') refuse('names no host');
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= PORT_MAX))
    refuse(`has a port that is none: expected a number from 1 to ${PORT_MAX}`);
  if (!HOST.test(host)) refuse('has a host that is neither a name nor an address');
}

function requireCredentials(url: URL, kind: TargetKind, refuse: Refuse): void {
  try {
    decodeURIComponent(`${url.username}${url.password}`);
  } catch {
    refuse('has a user or password with a % that begins no escape: it is written %25');
  }
  if (kind !== 'ntfy' && (url.username === '' || url.password === ''))
    refuse('needs a user and a password, or neither');
}

/** What else each kind of target asks of its URL. */
const REQUIRE = {
  ntfy(url, refuse) {
    if (url.search !== '') refuse('has a query, which an ntfy target does not take');
    if (!TOPIC.test(url.pathname.slice(url.pathname.lastIndexOf('/') + 1)))
      refuse('does not end with an ntfy topic: 1 to 64 letters, digits, - and _');
  },
  mail(url, refuse) {
    if (url.pathname !== '' && url.pathname !== '/') refuse('has a path, which a mail target does not take');
    const keys = [...url.searchParams.keys()];
    if (keys.some((key) => key !== 'to' && key !== 'from')) refuse('has a query with something else than to and from');
    if (new Set(keys).size < keys.length)
      refuse('says to or from twice: several addresses of to are separated by commas');
    const to = url.searchParams.get('to') ?? '';
    if (to === '') refuse('names no recipient: expected smtp://host?to=ADDRESS');
    const all = [...to.split(','), url.searchParams.get('from') ?? 'none@none'];
    if (!all.every((address) => ADDRESS.test(address)))
      refuse('has a to or from that is no mail address; a + in it is written %2B');
  },
  webhook: () => undefined,
} satisfies Record<TargetKind, (url: URL, refuse: Refuse) => void>;
