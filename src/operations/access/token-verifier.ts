import { hash } from 'node:crypto';
import { readAgent } from '../../domain/access/agent.ts';
import type { Caller, Via } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { parseToken } from '../../domain/access/token.ts';
import type { Clock } from '../../lib/clock.ts';
import { inNoName } from '../../lib/flow/in-name-of.ts';
import { Limiter, LimiterFull } from '../../lib/flow/limiter.ts';
import type { Token } from '../../store/access/tokens.ts';
import { ifTagged } from '../../store/engine/tags/tags.ts';
import type { Store } from '../../store/store.ts';
import { TokenCache, type Verified } from './token-cache.ts';
import type { TokenHasher } from './token-hash.ts';
import { createTokenReader, type ReadToken } from './token-reader.ts';

/**
 * argon2id runs in flight. libuv has four threads, which files and DNS need too (measured: behind 40 waiting runs a
 * file read took 401 ms), so two stay free. With eight waiting, a further caller must retry.
 */
const KDF_RUNNING_MAX = 2;
const KDF_WAITING_MAX = 8;

/** What a row of a token is read from. */
const TABLES = ['tokens'] as const;

/** Replaces the salt and the hash of a token that does not exist, so that its refusal costs the same. */
const NO_TOKEN = { salt: Buffer.alloc(16), hash: Buffer.alloc(40) };

export function unauthenticated(message: string): Failure {
  return new Failure('unauthenticated', message);
}

const refusal = (): Failure => unauthenticated('The token is unknown, expired or revoked.');

export interface VerifierLoad {
  /** Runs of the slow hash since the process started, in flight now, and waiting. */
  readonly kdfRuns: number;
  readonly kdfRunning: number;
  readonly kdfWaiting: number;
  /** Tokens that are remembered as verified. */
  readonly verified: number;
}

/** Turns token texts into callers: argon2id once per token and process, and the row at each request. */
export class TokenVerifier {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #hasher: TokenHasher;
  readonly #read: ReadToken;
  readonly #cache: TokenCache;
  readonly #gate = new Limiter({ running: KDF_RUNNING_MAX, waiting: KDF_WAITING_MAX });
  readonly #underWay = new Map<string, Promise<Verified>>();
  readonly #versions = new WeakMap<Caller, number>();
  #runs = 0;

  constructor(store: Store, clock: Clock, hasher: TokenHasher) {
    this.#store = store;
    this.#clock = clock;
    this.#hasher = hasher;
    this.#read = createTokenReader(store);
    this.#cache = new TokenCache(clock);
  }

  get load(): VerifierLoad {
    return {
      kdfRuns: this.#runs,
      kdfRunning: this.#gate.running,
      kdfWaiting: this.#gate.waiting,
      verified: this.#cache.size,
    };
  }

  /** Throws unauthenticated, or kdf_busy when the gate is full. */
  async caller(text: string, via: Via): Promise<Caller> {
    const entry = await this.#resolve(text);
    let caller = entry.callers.get(via);
    if (caller === undefined) {
      caller = tokenCaller(entry.row, via);
      entry.callers.set(via, caller);
      this.#versions.set(caller, entry.row.version);
    }
    return caller;
  }

  /** The row of a token that lets somebody in at this moment; null when it is gone, expired, revoked or changed. */
  async active(id: string, version?: number): Promise<Token | null> {
    const row = await this.#checked(id);
    return row !== undefined && this.#isActive(row) && (version === undefined || row.version === version) ? row : null;
  }

  /** The version of the row that a caller was made from. */
  versionOf(caller: Caller): number | undefined {
    return this.#versions.get(caller);
  }

  async #resolve(text: string): Promise<Verified> {
    const digest = hash('sha256', text, 'base64');
    const known = this.#cache.verified(digest);
    if (known !== undefined) {
      if (await this.#isFresh(known)) return known;
      this.#cache.drop(digest);
    }
    if (this.#cache.isRefused(digest)) throw refusal();
    let run = this.#underWay.get(digest);
    if (run === undefined) {
      run = inNoName(() => this.#verify(text, digest)).finally(() => this.#underWay.delete(digest));
      this.#underWay.set(digest, run);
    }
    const entry = await run;
    // The row may have changed while the hash was computed, or while this request waited for another's run.
    if (!(await this.#isFresh(entry))) throw refusal();
    return entry;
  }

  async #isFresh(entry: Verified): Promise<boolean> {
    // The version is asked before the row: a commit between the two makes the next request look again.
    const version = this.#store.version(TABLES);
    if (version === null || version !== entry.checkedAt) {
      const row = await this.#checked(entry.row.id);
      if (row === undefined || row.version !== entry.row.version || row.revoked_at !== null) return false;
      entry.checkedAt = version;
    }
    return this.#isActive(entry.row);
  }

  async #checked(id: string): Promise<Token | undefined> {
    return ifTagged(this.#store, 'tokens', await this.#read(id));
  }

  #isActive(row: Token): boolean {
    return row.revoked_at === null && (row.expires_at === null || this.#clock.now() < row.expires_at);
  }

  async #verify(text: string, digest: string): Promise<Verified> {
    const parts = parseToken(text);
    if (parts === null) throw refusal();
    const row = await this.#plausible(parts.id, parts.secret);
    if (row === undefined || !this.#isActive(row) || !(await this.#matches(parts.secret, row))) {
      this.#cache.refuse(digest);
      throw refusal();
    }
    const entry: Verified = { row, checkedAt: null, callers: new Map() };
    this.#cache.keep(digest, entry);
    return entry;
  }

  /** The tag is checked last: the time of a refusal must not tell which ids exist. */
  async #plausible(id: string, secret: string): Promise<Token | undefined> {
    const row = await this.#read(id);
    const { salt, hash: stored } = row ?? NO_TOKEN;
    return this.#hasher.plausible(secret, salt, stored) ? ifTagged(this.#store, 'tokens', row) : undefined;
  }

  async #matches(secret: string, row: Token): Promise<boolean> {
    try {
      return await this.#gate.run(() => {
        this.#runs += 1;
        return this.#hasher.matches(secret, row.salt, row.hash);
      });
    } catch (error) {
      if (error instanceof LimiterFull)
        throw new Failure('kdf_busy', 'The limit of concurrent token checks is reached.');
      throw error;
    }
  }
}

/** The principal that a token stands for. Only a row that passed has one. */
function tokenCaller(row: Token, via: Via): Caller {
  return {
    id: row.id,
    name: row.name,
    owner: row.owner,
    scope: row.scope,
    scopes: [row.scope],
    via,
    credential: 'token',
    expiresAt: row.expires_at,
    agent: readAgent(row.agent),
  };
}

export function sessionCaller(row: Token, expiresAt: number): Caller {
  return { ...tokenCaller(row, 'web'), credential: 'session', expiresAt };
}
