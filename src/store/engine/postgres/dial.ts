import { readFileSync, statSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { Client, type ClientConfig, DatabaseError } from 'pg';
import {
  type DatabaseAddress,
  type DatabaseHost,
  readDatabaseUrl,
  SSL_MODES,
} from '../../../domain/database/database-url.ts';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { errorCode, wordsOfCode } from '../../../lib/error-code.ts';
import { hostPort } from '../../../lib/host-port.ts';

/** No connection could be made. Its message has the reason in words, and no value of the URL but hosts and files. */
export class ConnectFault extends Error {
  override readonly name = 'ConnectFault';
}

/** What a connection has beside what the URL says. */
export type SessionConfig = Pick<
  ClientConfig,
  'statement_timeout' | 'lock_timeout' | 'query_timeout' | 'idle_in_transaction_session_timeout' | 'pipeline' | 'types'
>;

interface Way {
  readonly host: DatabaseHost;
  readonly isPlain: boolean;
}

interface Dialled {
  readonly client: Client;
  /** Where it leads. */
  readonly host: DatabaseHost;
}

/** The server refused the user or the password: the other hosts would have to answer the same. */
const REFUSED_USER = /^28/;
/** It has no rule for this user over a connection of this kind. */
const NO_RULE = '28000';
/** It starts or stops: it would say the same over the other kind of connection. */
const CANNOT_CONNECT_NOW = '57P03';
const OTHERS_OR_GROUP = 0o077;
const OTHERS_OR_GROUP_WRITE = 0o037;
const READ_ONLY = 'the server is read-only, such as a standby';

/**
 * Makes connections to the database of a URL: to the first of its hosts that answers and can write, encrypted as
 * `sslmode` says. What worked last is tried first.
 */
export class Dialer {
  /** As it was given; it may hold a password. */
  readonly url: string;
  readonly #address: DatabaseAddress;
  /** Of each host, for all ways to it. */
  readonly #limitMs: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ways: readonly Way[];
  /** The index of the way that worked last. */
  #last = 0;

  /** A connection is made or refused within `limitMs` milliseconds, all hosts together. Throws invalid_argument. */
  constructor(url: string, limitMs: number, clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.url = url;
    this.#clock = clock;
    this.#address = readDatabaseUrl(url);
    this.#ways = waysTo(this.#address);
    const { hosts, connectTimeoutMs } = this.#address;
    this.#limitMs = Math.min(Math.ceil(limitMs / hosts.length), connectTimeoutMs ?? limitMs);
  }

  /**
   * Throws ConnectFault, also when `signal` is aborted. A later error of the connection does not end the process.
   */
  async connect(session: SessionConfig = {}, signal?: AbortSignal): Promise<Dialled> {
    const { hosts } = this.#address;
    // Read for each connection, so that renewed files are taken.
    const tls = tlsOptions(this.#address);
    const refusals = new Map<DatabaseHost, string>();
    const skipped = new Set<DatabaseHost>();
    const leftMs = new Map(hosts.map((host) => [host, this.#limitMs]));
    for (const way of [this.#ways[this.#last] ?? [], this.#ways.filter((_, index) => index !== this.#last)].flat()) {
      const limitMs = leftMs.get(way.host) ?? 0;
      if (skipped.has(way.host) || limitMs <= 0) continue;
      const startedMs = this.#clock.monotonic();
      try {
        const client = await this.#open(way, { ...session, ssl: way.isPlain ? false : tls }, limitMs, signal);
        this.#last = this.#ways.indexOf(way);
        return { client, host: way.host };
      } catch (error) {
        if (signal?.aborted === true) throw new ConnectFault('the connection is no longer wanted');
        leftMs.set(way.host, limitMs - (this.#clock.monotonic() - startedMs));
        refusals.set(way.host, wordsOf(error));
        for (const host of hosts) if (endsWith(error, host === way.host)) skipped.add(host);
      }
    }
    throw new ConnectFault(
      [...refusals]
        .map(([{ host, port }, why]) => (hosts.length === 1 ? why : `${hostPort(host, port)}: ${why}`))
        .join('; '),
    );
  }

  /** Throws ConnectFault, with its cause, where the other way to the same host would not help. */
  async #open(way: Way, session: ClientConfig, limitMs: number, signal?: AbortSignal): Promise<Client> {
    const { user, password, database, options, applicationName, hosts } = this.#address;
    const named = { user, password, database, options, application_name: applicationName };
    const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
    const untilMs = this.#clock.monotonic() + limitMs;
    const client = new Client({ ...session, ...way.host, ...given, connectionTimeoutMillis: limitMs, keepAlive: true });
    const stage = followStage(client, way.isPlain);
    // The driver never settles `connect` of a client that is ended in it.
    const ended = new Promise<never>((_resolve, reject) => {
      client.on('error', reject).once('end', () => reject(new Error('the connection was closed')));
    });
    ended.catch(() => undefined);
    const end = (): void => void client.end().catch(() => undefined);
    signal?.addEventListener('abort', end, { once: true });
    try {
      signal?.throwIfAborted();
      await Promise.race([client.connect(), ended]);
      if (hosts.length > 1) await requireWritable(client, Math.max(1, untilMs - this.#clock.monotonic()));
      return client;
    } catch (error) {
      end();
      throw isOfKind(error, stage()) ? error : new ConnectFault(wordsOf(error), { cause: error });
    } finally {
      signal?.removeEventListener('abort', end);
    }
  }
}

/** How far a connection came: until it is open, in plain or encrypted, until the login is accepted, or further. */
type Stage = 'opening' | 'login' | 'session';

function followStage({ connection }: Client, isPlain: boolean): () => Stage {
  let stage: Stage = 'opening';
  const open = (): void => void (stage = 'login');
  if (isPlain) connection.once('connect', open);
  // Only now its stream is the encrypted one.
  else connection.once('sslconnect', () => connection.stream.once('secureConnect', open));
  connection.once('authenticationOk', () => (stage = 'session'));
  return () => stage;
}

/**
 * Whether an error may be due to the kind of the connection, plain or encrypted, as libpq sees it: the connection did
 * not open, or the server refused the login. After that the host is what it is, and a second login would tell no more.
 */
function isOfKind(error: unknown, stage: Stage): boolean {
  return stage === 'opening' || (stage === 'login' && error instanceof DatabaseError);
}

/** Whether an error at a host says that it, or another host, need not be tried any more. */
function endsWith(error: unknown, isSameHost: boolean): boolean {
  const isFinal = error instanceof ConnectFault;
  const code = errorCode(isFinal ? error.cause : error) ?? '';
  if (REFUSED_USER.test(code)) return !isSameHost || isFinal || code !== NO_RULE;
  return isSameHost && (isFinal || code === CANNOT_CONNECT_NOW || isUnreachable(error));
}

/** Of several hosts, the one that can write is wanted. */
async function requireWritable(client: Client, withinMs: number): Promise<void> {
  const query = { text: 'show transaction_read_only', query_timeout: withinMs };
  const { rows } = await client.query<{ transaction_read_only: string }>(query);
  if (rows[0]?.transaction_read_only !== 'off') throw new ConnectFault(READ_ONLY);
}

/** In the order in which they are tried. A Unix socket is not encrypted, whatever the mode. */
function waysTo({ hosts, sslMode }: DatabaseAddress): Way[] {
  return hosts.flatMap((host) =>
    (host.host.startsWith('/') ? ['plain'] : SSL_MODES[sslMode]).map((way) => ({ host, isPlain: way === 'plain' })),
  );
}

function tlsOptions({ sslMode, rootsFile, certificate }: DatabaseAddress): ConnectionOptions {
  const isVerified = rootsFile !== null || sslMode === 'verify-full';
  return {
    rejectUnauthorized: isVerified,
    ...(rootsFile === null ? {} : { ca: read('sslrootcert', rootsFile) }),
    ...(certificate === null ? {} : { cert: read('sslcert', certificate.file), key: readKey(certificate.keyFile) }),
    // The chain alone is checked: any name will do.
    ...(sslMode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

function read(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConnectFault(`${name}: ${path} cannot be read: ${wordsOf(error)}`);
  }
}

/** As pg_dump has it: a key that others may read is refused. A key of root may be read by its group. */
function readKey(path: string): Buffer {
  const key = read('sslkey', path);
  const { mode, uid } = statSync(path);
  if ((mode & (uid === 0 ? OTHERS_OR_GROUP_WRITE : OTHERS_OR_GROUP)) !== 0)
    throw new ConnectFault(`sslkey: ${path} can be read by others; run: chmod 0600 ${path}`);
  return key;
}

/** The network did not lead to the server: another encryption does not help. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return true;
  if (!(error instanceof Error)) return false;
  return ('syscall' in error && ['connect', 'getaddrinfo'].includes(String(error.syscall))) || error.message === LATE;
}

const LATE = 'timeout expired';
/** Only the question of `requireWritable` has a limit here. */
const QUERY_LATE = 'Query read timeout';
/** What the driver says without a code. The texts of other errors may repeat values. */
const TEXTS: Readonly<Record<string, string>> = {
  [LATE]: 'no answer in time',
  [QUERY_LATE]: 'the server did not say in time whether it is read-only',
  'The server does not support SSL connections': 'the server does not take encrypted connections',
  'There was an error establishing an SSL connection': 'the server does not answer like a PostgreSQL',
};

function wordsOf(error: unknown): string {
  if (error instanceof ConnectFault) return error.message;
  const code = errorCode(error);
  if (code !== null) return wordsOfCode(code);
  return (error instanceof Error ? TEXTS[error.message] : undefined) ?? 'the connection was closed';
}
