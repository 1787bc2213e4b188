import { isAbsolute } from 'node:path';
import { Failure } from '../failure.ts';

/** How a connection is encrypted: the ways that are tried at a server, in this order. */
export const SSL_MODES = {
  disable: ['plain'],
  allow: ['plain', 'tls'],
  prefer: ['tls', 'plain'],
  require: ['tls'],
  'verify-ca': ['tls'],
  'verify-full': ['tls'],
} as const satisfies Readonly<Record<string, readonly ('plain' | 'tls')[]>>;

type SslMode = keyof typeof SSL_MODES;

/** The value of `sslrootcert` that means the authorities that Node knows. */
const SYSTEM_ROOTS = 'system';

/** What a URL may say beside its authority and path, with the variable of libpq that is read without it. */
const PARAMETERS = {
  host: 'PGHOST',
  port: 'PGPORT',
  // The driver, pg_dump and pg_restore read the variables of these themselves.
  user: null,
  password: null,
  dbname: null,
  options: null,
  application_name: null,
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
} as const satisfies Readonly<Record<string, string | null>>;

type Parameter = keyof typeof PARAMETERS;
type Values = ReadonlyMap<Parameter, string>;

export interface DatabaseHost {
  /** A name, an address, or the absolute path of the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

/** A database, as its URL names it. */
export interface DatabaseAddress {
  /** In the order in which they are tried. */
  readonly hosts: readonly DatabaseHost[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly sslMode: SslMode;
  /** A file of certificates, or null for none or for those that Node knows. */
  readonly rootsFile: string | null;
  /** The certificate that this client shows, and its key. */
  readonly certificate: { readonly file: string; readonly keyFile: string } | null;
  readonly connectTimeoutMs: number | null;
  readonly options: string | undefined;
  readonly applicationName: string | undefined;
}

const DEFAULT_PORT = 5_432;
/** A connection is tried at each of them in turn. Clusters have 2 to 5 hosts. */
const HOSTS_MAX = 16;
/** The service writes, so that a server which only reads is never the right one. */
const SESSION_ATTRIBUTES = ['any', 'read-write', 'primary'];

const FORM = /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s;

/** Throws invalid_argument for what is no URL of a database, without any of its values. */
export function readDatabaseUrl(text: string): DatabaseAddress {
  const values = valuesOf(text);
  const roots = values.get('sslrootcert') ?? null;
  const isSystem = roots === SYSTEM_ROOTS;
  const sslMode = sslModeOf(values.get('sslmode') ?? (isSystem ? 'verify-full' : 'prefer'));
  if (isSystem && sslMode !== 'verify-full') throw refused('sslrootcert=system needs sslmode=verify-full');
  if (roots === null && sslMode === 'verify-ca')
    throw refused('sslmode=verify-ca needs sslrootcert, the file of the authority of the server');
  if (!SESSION_ATTRIBUTES.includes(values.get('target_session_attrs') ?? 'any'))
    throw refused(`target_session_attrs: expected one of ${SESSION_ATTRIBUTES.join(', ')}, because the service writes`);
  const seconds = values.get('connect_timeout') ?? '0';
  if (!/^\d{1,6}$/.test(seconds)) throw refused('connect_timeout: expected whole seconds');
  return {
    hosts: hostsOf(values),
    user: values.get('user'),
    password: values.get('password'),
    database: values.get('dbname'),
    sslMode,
    rootsFile: roots === null || isSystem ? null : file('sslrootcert', roots),
    certificate: certificateOf(values),
    connectTimeoutMs: Number(seconds) === 0 ? null : Number(seconds) * 1_000,
    options: values.get('options'),
    applicationName: values.get('application_name'),
  };
}

/** The same URL with what it leaves out, as the variables of libpq have it. Throws like `readDatabaseUrl`. */
export function completeDatabaseUrl(text: string, env: Readonly<Record<string, string | undefined>>): string {
  const values = new Map(valuesOf(text));
  for (const [name, variable] of entriesOf(PARAMETERS)) {
    const value = variable === null ? undefined : env[variable];
    if (value !== undefined && value !== '' && !values.has(name)) values.set(name, value);
  }
  const complete = write(values);
  readDatabaseUrl(complete);
  return complete;
}

/** A URL of one of the hosts, for programs of PostgreSQL, without the password. */
export function urlOfHost(text: string, { host, port }: DatabaseHost): string {
  const values = new Map(valuesOf(text));
  values.delete('password');
  // Without it libpq looks for a file in the home directory, and refuses.
  if (values.get('sslmode') === 'verify-full' && !values.has('sslrootcert')) values.set('sslrootcert', SYSTEM_ROOTS);
  return write(values.set('host', host).set('port', String(port)));
}

function write(values: Values): string {
  const parameters = [...values].map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `postgresql:///?${parameters.join('&')}`;
}

/** A parameter of the query wins over the same part of the authority or path. */
function valuesOf(text: string): Values {
  const match = FORM.exec(text);
  if (match === null) throw refused('expected a postgres:// URL');
  const [, authority = '', path = '', query = ''] = match;
  const values = new Map<Parameter, string>();
  const set = (name: Parameter, value: string): void => {
    if (value !== '') values.set(name, decoded(value));
  };
  // Where a password holds one of these signs as it is, the URL means something else, and its parts are not shown.
  if (text.includes('#') || `${path}${query}`.includes('@'))
    throw refused('write # as %23, and in a user or password / as %2F, ? as %3F and @ as %40');
  const at = authority.lastIndexOf('@');
  const [, user = '', password = ''] = /^([^:]*)(?::(.*))?$/s.exec(authority.slice(0, Math.max(at, 0))) ?? [];
  set('user', user);
  set('password', password);
  const servers = authority
    .slice(at + 1)
    .split(',')
    .map(serverOf);
  if (servers.some(({ host }) => host !== '')) set('host', servers.map(({ host }) => host).join(','));
  if (servers.some(({ port }) => port !== '')) set('port', servers.map(({ port }) => port).join(','));
  set('dbname', path);
  for (const part of query.split('&').filter((each) => each !== '')) {
    const [, name = '', value] = /^([^=]*)=(.*)$/s.exec(part) ?? [];
    const known = entriesOf(PARAMETERS).find(([each]) => each === name)?.[0];
    if (known === undefined || value === undefined)
      throw refused(
        `${JSON.stringify(name)} is no parameter that is read; expected ${Object.keys(PARAMETERS).join(', ')}`,
      );
    set(known, value);
  }
  return values;
}

function serverOf(text: string): { readonly host: string; readonly port: string } {
  const match = /^(?:\[([^[\]]+)\]|([^:[\]]*))(?::(\d*))?$/.exec(text);
  if (match === null) throw refused('expected HOST, HOST:PORT or [IPv6]:PORT, or several of them with commas');
  return { host: match[1] ?? match[2] ?? '', port: match[3] ?? '' };
}

/** A `%` without two digits is taken as it is: what is no code is a sign of a password. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    throw refused('a code such as %C3%A9 is not UTF-8');
  }
}

function hostsOf(values: Values): DatabaseHost[] {
  const hosts = (values.get('host') ?? '').split(',');
  const ports = (values.get('port') ?? '').split(',');
  if (hosts.length > HOSTS_MAX) throw refused(`expected at most ${HOSTS_MAX} hosts`);
  if (ports.length !== 1 && ports.length !== hosts.length) throw refused('expected one port, or one for each host');
  return hosts.map((host, index) => {
    const text = ports[ports.length === 1 ? 0 : index] ?? '';
    const port = text === '' ? DEFAULT_PORT : Number(text);
    if (!/^\d{0,5}$/.test(text) || port < 1 || port > 65_535) throw refused('port: expected 1 to 65535');
    return { host: host === '' ? 'localhost' : host, port };
  });
}

function sslModeOf(text: string): SslMode {
  const mode = entriesOf(SSL_MODES).find(([each]) => each === text)?.[0];
  return mode ?? refuse(`sslmode: expected one of ${Object.keys(SSL_MODES).join(', ')}`);
}

function certificateOf(values: Values): DatabaseAddress['certificate'] {
  const [certificate, key] = [values.get('sslcert'), values.get('sslkey')];
  if (certificate === undefined && key === undefined) return null;
  if (certificate === undefined || key === undefined) throw refused('sslcert and sslkey are given together');
  return { file: file('sslcert', certificate), keyFile: file('sslkey', key) };
}

function file(name: Parameter, path: string): string {
  return isAbsolute(path) ? path : refuse(`${name}: expected an absolute path`);
}

function entriesOf<K extends string, V>(record: Readonly<Record<K, V>>): [K, V][] {
  return Object.entries(record) as [K, V][];
}

function refused(why: string): Failure {
  return new Failure('invalid_argument', `--database-url: ${why}.`);
}

function refuse(why: string): never {
  throw refused(why);
}
