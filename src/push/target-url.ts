import { Failure } from '../domain/failure.ts';

/** The URL schemes that `--notify` accepts, with the kind of target of each. */
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
  /** For ntfy without `ntfy+`. */
  readonly url: URL;
}

type Refuse = (why: string) => never;

const FORM = /^([a-z][a-z0-9+]*):\/\/(?:([^/?#]*)@)?([^/?#@]*)/i;
const PORT_MAX = 65_535;
/** Letters include those of IDN; any other character of an authority is a typing mistake. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[\p{L}\p{M}\p{N}_.-]+)$/iu;
/** The rule of the ntfy server. */
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;
const ADDRESS = /^[^\s@,<>"]+@[^\s@,<>"]+$/;

/**
 * Reads a target of `--notify`. `position` counts from 1. Throws invalid_argument with the fault and nothing of the
 * URL, which may hold a password.
 */
export function readTargetUrl(text: string, position: number): TargetUrl {
  const refuse: Refuse = (why) => {
    throw new Failure('invalid_argument', `--notify: target ${position} ${why}.`);
  };
  const [, scheme = '', user, authority = ''] = FORM.exec(text) ?? [];
  const kind = kindOf(scheme.toLowerCase());
  if (kind === null)
    return refuse(
      'has an unknown scheme; expected ntfy+https://, ntfy+http://, smtp://, smtps://, https:// or http://',
    );
  // Check this first: a # in a password would end the URL.
  if (text.includes('#')) return refuse('has a fragment, which is never sent; write a # in a password as %23');
  if (text.includes('\\')) return refuse('has a backslash; write it as %5C');
  requireAuthority(authority, refuse);
  const plain = text.replace(/^ntfy\+/i, '');
  if (!URL.canParse(plain)) return refuse('is not a valid URL');
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
  if (host === '') refuse('has no host');
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= PORT_MAX))
    refuse(`has an invalid port; expected a number from 1 to ${PORT_MAX}`);
  if (!HOST.test(host)) refuse('has an invalid host; expected a name or an address');
}

function requireCredentials(url: URL, kind: TargetKind, refuse: Refuse): void {
  try {
    decodeURIComponent(`${url.username}${url.password}`);
  } catch {
    refuse('has a user or password with a % that is not an escape; write it as %25');
  }
  if (kind !== 'ntfy' && (url.username === '' || url.password === ''))
    refuse('has only a user or only a password; expected both or neither');
}

/** The further requirements of each kind of target. */
const REQUIRE = {
  ntfy(url, refuse) {
    if (url.search !== '') refuse('has a query; expected none for an ntfy target');
    if (!TOPIC.test(url.pathname.slice(url.pathname.lastIndexOf('/') + 1)))
      refuse('does not end with an ntfy topic; expected 1 to 64 letters, digits, - and _');
  },
  mail(url, refuse) {
    if (url.pathname !== '' && url.pathname !== '/') refuse('has a path; expected none for a mail target');
    const keys = [...url.searchParams.keys()];
    if (keys.some((key) => key !== 'to' && key !== 'from'))
      refuse('has an unknown query parameter; expected only to and from');
    if (new Set(keys).size < keys.length) refuse('has to or from twice; separate the addresses of to by commas');
    const to = url.searchParams.get('to') ?? '';
    if (to === '') refuse('has no recipient; expected smtp://host?to=ADDRESS');
    const all = [...to.split(','), url.searchParams.get('from') ?? 'none@none'];
    if (!all.every((address) => ADDRESS.test(address)))
      refuse('has a to or from that is not a mail address; write a + in it as %2B');
  },
  webhook: () => undefined,
} satisfies Record<TargetKind, (url: URL, refuse: Refuse) => void>;
