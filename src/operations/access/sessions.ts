import { hash } from 'node:crypto';
import type { Caller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import type { Clock } from '../../lib/clock.ts';
import { randomBytes } from '../../lib/random.ts';
import type { Checked } from '../../store/engine/tags/tags.ts';
import type { SessionRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import { deleteSession, findSession, insertSession } from '../../store/access/tokens.ts';
import { actorOf } from '../core/reply.ts';
import { sessionCaller, type TokenVerifier, unauthenticated } from './token-verifier.ts';

export const SESSION_COOKIE = 'svc_session';

/** A working day: a browser that was left open must sign in again the next morning. */
const SESSION_MS = 12 * 3_600_000;
const VALUE_BYTES = 32;
const VALUE = /^[A-Za-z0-9_-]{43}$/;
/**
 * Cookies of our name that are tried: another instance on the same host under another path or port sends its own too.
 */
const COOKIES_TRIED_MAX = 4;

export interface SignedIn {
  /** The value of the session cookie; only its hash is stored. */
  readonly cookie: string;
  readonly csrf: string;
  /** Milliseconds since the epoch: 12 hours, or when the token expires. */
  readonly expiresAt: number;
}

/** Browser sessions: each stands for the token that it was exchanged for, and ends with it. */
export class SessionKeeper {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #tokens: TokenVerifier;
  readonly #rows = new WeakMap<Caller, Checked<SessionRow>>();

  constructor(store: Store, clock: Clock, tokens: TokenVerifier) {
    this.#store = store;
    this.#clock = clock;
    this.#tokens = tokens;
  }

  async open(token: string): Promise<SignedIn> {
    const caller = await this.#tokens.caller(token, 'web');
    if (caller.scope === 'host')
      throw new Failure(
        'forbidden',
        'Tokens with the scope host cannot use the web pages. Sign in with another token.',
      );
    if (caller.agent !== null)
      throw new Failure('forbidden', 'Tokens of programs cannot use the web pages. Sign in with a token of a person.');
    const cookie = randomBytes(VALUE_BYTES).toString('base64url');
    const csrf = randomBytes(VALUE_BYTES).toString('base64url');
    return this.#store.write(async (tx) => {
      const expiresAt = Math.min(tx.now + SESSION_MS, caller.expiresAt ?? Number.POSITIVE_INFINITY);
      await insertSession(tx, {
        id: idOf(cookie),
        token_id: caller.id,
        csrf,
        created_at: tx.now,
        expires_at: expiresAt,
      });
      tx.record({ ...actorOf(caller), operation: 'session.open', target: caller.id, detail: {} });
      return { cookie, csrf, expiresAt };
    });
  }

  async close(cookie: string): Promise<void> {
    const row = VALUE.test(cookie) ? await findSession(this.#store, idOf(cookie)) : undefined;
    if (row === undefined) return;
    const token = await this.#tokens.active(row.token_id);
    await this.#store.write(async (tx) => {
      await deleteSession(tx, row.id);
      const { name, owner } = token ?? { name: row.token_id, owner: row.token_id };
      tx.record({ principal: name, owner, via: 'web', operation: 'session.close', target: row.token_id, detail: {} });
    });
  }

  /** Throws unauthenticated. */
  async caller(cookieHeader: string | undefined): Promise<Caller> {
    for (const value of cookieValues(cookieHeader)) {
      const row = await findSession(this.#store, idOf(value));
      if (row === undefined || this.#clock.now() >= row.expires_at) continue;
      const token = await this.#tokens.active(row.token_id);
      if (token === null) continue;
      const caller = sessionCaller(token, row.expires_at);
      this.#rows.set(caller, row);
      return caller;
    }
    throw unauthenticated('No valid credential was sent.');
  }

  async isOpen(caller: Caller): Promise<boolean> {
    const known = this.#rows.get(caller);
    if (known === undefined || this.#clock.now() >= known.expires_at) return false;
    const row = await findSession(this.#store, known.id);
    return row !== undefined && (await this.#tokens.active(row.token_id)) !== null;
  }

  csrfOf(caller: Caller): string | null {
    return this.#rows.get(caller)?.csrf ?? null;
  }
}

function idOf(cookie: string): string {
  return hash('sha256', cookie);
}

/** The well-formed values of our cookie in a Cookie header, in the order sent. */
export function cookieValues(header: string | undefined): string[] {
  if (header === undefined || !header.includes(SESSION_COOKIE)) return [];
  const values: string[] = [];
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at < 0 || pair.slice(0, at).trim() !== SESSION_COOKIE) continue;
    const value = pair.slice(at + 1).trim();
    if (VALUE.test(value)) values.push(value);
    if (values.length === COOKIES_TRIED_MAX) break;
  }
  return values;
}
