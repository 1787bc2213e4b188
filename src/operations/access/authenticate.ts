import type { Caller, Via } from '../../domain/access/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../store/store.ts';
import { SessionKeeper, type SignedIn } from './sessions.ts';
import { createTokenHasher } from './token-hash.ts';
import { TokenVerifier, unauthenticated, type VerifierLoad } from './token-verifier.ts';

/** What a request brought: every Authorization header that was sent, and the Cookie header. */
export interface Credentials {
  readonly authorization: readonly string[];
  readonly cookie: string | undefined;
}

export interface Authenticator {
  /**
   * The one caller of a request. A bearer token wins over a cookie; a bad one is not made good by a cookie. Throws
   * unauthenticated, or kdf_busy.
   */
  authenticate(credentials: Credentials, via: Via): Promise<Caller>;
  /** Asked again while a stream is open: false once the credential was revoked, has expired, or the session ended. */
  stillValid(caller: Caller): Promise<boolean>;
  /** Exchanges a token for a session. Throws unauthenticated, kdf_busy, and forbidden for a host's token. */
  signIn(token: string): Promise<SignedIn>;
  /** Ends the session of the cookie value; ending one that is gone is no error. */
  signOut(cookie: string): Promise<void>;
  /** What the forms of a session have to carry; null for a caller that is no session. */
  csrfOf(caller: Caller): string | null;
  /** For the row of a new token: 40 bytes. */
  hashToken(secret: string, salt: Uint8Array): Promise<Uint8Array>;
  load(): VerifierLoad;
}

interface AuthenticatorOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** 32 bytes; tokens that were made under another key are refused. */
  readonly sealKey: Buffer;
}

// RFC 9110: the scheme's name is case-insensitive. RFC 6750: the token is one word.
const BEARER = /^bearer +([\x21-\x7e]+)$/i;

/** The one way from a credential to a caller, for every face that has a network before it. */
export function createAuthenticator({ store, clock, sealKey }: AuthenticatorOptions): Authenticator {
  const hasher = createTokenHasher(sealKey);
  const tokens = new TokenVerifier(store, clock, hasher);
  const sessions = new SessionKeeper(store, clock, tokens);
  return {
    async authenticate({ authorization, cookie }, via) {
      if (authorization.length > 1)
        throw unauthenticated('More than one Authorization header was sent: send exactly one.');
      const [header] = authorization;
      if (header === undefined) return sessions.caller(cookie);
      const text = BEARER.exec(header)?.[1];
      if (text === undefined) throw unauthenticated('The Authorization header is not of the form "Bearer <token>".');
      return tokens.caller(text, via);
    },
    async stillValid(caller) {
      if (caller.credential === 'local') return true;
      if (caller.credential === 'session') return sessions.isOpen(caller);
      return (await tokens.active(caller.id, tokens.versionOf(caller))) !== null;
    },
    signIn: (token) => sessions.open(token),
    signOut: (cookie) => sessions.close(cookie),
    csrfOf: (caller) => sessions.csrfOf(caller),
    hashToken: (secret, salt) => hasher.hash(secret, salt),
    load: () => tokens.load,
  };
}
