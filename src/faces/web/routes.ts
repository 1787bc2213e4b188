import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Authenticator } from '../../operations/access/authenticate.ts';
import { cookieValues, SESSION_COOKIE } from '../../operations/access/sessions.ts';
import { FORM_TYPE, readBody } from '../http/body.ts';
import { credentialsOf } from '../http/credentials.ts';
import type { HeaderList } from '../http/headers.ts';
import type { Peers } from '../http/peers.ts';
import type { Exchange, Sender } from '../http/sender.ts';
import { admit } from '../http/visit.ts';
import { PAGE_HEADERS } from '../html/shell.ts';
import { signInPage } from './pages/sign-in.ts';
import { refuseForeign, refuseWrongCsrf } from './same-origin.ts';

/** A form holds a token of 75 characters, a path and little else. */
const FORM_MAX_BYTES = 4_096;
/** A path to go to after signing in; a longer one is forgotten. */
const NEXT_MAX = 2_000;

interface PageParts {
  readonly authenticator: Authenticator;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly basePath: string;
  /** Tells whether the client reached a trusted proxy by https. */
  readonly peers: Peers;
  /** Whether browsers reach us by https only. */
  readonly secureCookies: boolean;
}

/** Who visits the routes outside the API, signing in and out. Its promises never reject. */
export class Pages {
  readonly #parts: PageParts;

  constructor(parts: PageParts) {
    this.#parts = parts;
  }

  /**
   * The caller of a route outside the API. Without one it answers itself, with the sign-in page for a browser, which
   * then continues with `next`: the page that was asked for, or that of the form.
   */
  async visitor(exchange: Exchange, next?: string): Promise<Caller | null> {
    const { authenticator, sender } = this.#parts;
    try {
      return await admit(authenticator, exchange, credentialsOf(exchange.request), 'web');
    } catch (error) {
      const isPage = exchange.request.method === 'GET' || exchange.request.method === 'HEAD';
      const page = isPage ? (exchange.request.url ?? '/') : next;
      if (page !== undefined && error instanceof Failure && error.code === 'unauthenticated')
        this.#signInPage(exchange, error, page);
      else sender.sendFailure(exchange, error);
      return null;
    }
  }

  async login(exchange: Exchange): Promise<void> {
    const { authenticator, sender, clock } = this.#parts;
    let next = '/';
    try {
      refuseForeign(exchange.request);
      const form = await readForm(exchange.request, FORM_MAX_BYTES);
      next = form.get('next') ?? '/';
      const token = form.get('token')?.trim() ?? '';
      if (token === '') throw new Failure('invalid_argument', 'token: this field is required.');
      const { cookie, expiresAt } = await authenticator.signIn(token);
      const seconds = Math.max(0, Math.ceil((expiresAt - clock.now()) / 1_000));
      this.#goTo(exchange, next, this.#cookie(exchange, cookie, seconds));
    } catch (error) {
      if (error instanceof Failure) this.#signInPage(exchange, error, next, error.message);
      else sender.sendFailure(exchange, error);
    }
  }

  /** The address of the sign-in page, for a browser that is signed in already. */
  async skipSignIn(exchange: Exchange): Promise<void> {
    if ((await this.visitor(exchange)) !== null) this.#goTo(exchange, '/');
  }

  async logout(exchange: Exchange): Promise<void> {
    const { authenticator, sender } = this.#parts;
    try {
      refuseForeign(exchange.request);
      const caller = await this.#signedIn(exchange);
      if (caller === null) return this.#goTo(exchange, '/', this.#cookie(exchange, '', 0));
      const form = await readForm(exchange.request, FORM_MAX_BYTES);
      refuseWrongCsrf(authenticator.csrfOf(caller), form.get('csrf'));
      for (const value of cookieValues(exchange.request.headers.cookie)) await authenticator.signOut(value);
      this.#goTo(exchange, '/', this.#cookie(exchange, '', 0));
    } catch (error) {
      sender.sendFailure(exchange, error);
    }
  }

  /** Null for a session that has ended already: to sign out of it is no fault. */
  async #signedIn(exchange: Exchange): Promise<Caller | null> {
    try {
      return await admit(this.#parts.authenticator, exchange, credentialsOf(exchange.request), 'web');
    } catch (error) {
      if (error instanceof Failure && error.code === 'unauthenticated') return null;
      throw error;
    }
  }

  #signInPage(exchange: Exchange, failure: Failure, next: string, message?: string): void {
    const body = (): string => signInPage(this.#parts.basePath, localPath(next), message);
    this.#parts.sender.sendFailure(exchange, failure, { headers: PAGE_HEADERS, body });
  }

  // The location is a path of ours, so neither a Host header nor a link can redirect elsewhere.
  #goTo(exchange: Exchange, next: string, cookie?: string): void {
    const location = this.#parts.basePath + localPath(next);
    const set = cookie === undefined ? [] : ['Set-Cookie', cookie];
    const headers: HeaderList = [...PAGE_HEADERS, 'Location', location, ...set];
    this.#parts.sender.send(exchange, 303, headers, '');
  }

  #cookie({ request }: Exchange, value: string, seconds: number): string {
    const path = this.#parts.basePath === '' ? '/' : this.#parts.basePath;
    const secure = this.#parts.secureCookies || this.#parts.peers.of(request).https ? '; Secure' : '';
    return `${SESSION_COOKIE}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
  }
}

/** Paths that forms are sent to: one never continues there. */
const NO_PAGES = ['/login', '/logout'];

/** The path and query as a browser would send them, if they are of this server; else the overview. */
function localPath(text: string): string {
  const here = 'http://here';
  if (!text.startsWith('/') || text.length > NEXT_MAX || !URL.canParse(text, here)) return '/';
  const { origin, pathname, search } = new URL(text, here);
  if (origin !== here || pathname.startsWith('//') || NO_PAGES.includes(pathname)) return '/';
  return pathname + search;
}

/** Throws invalid_argument for what no form of ours sends. */
export async function readForm(request: IncomingMessage, bytesMax: number): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new Failure('invalid_argument', 'Content-Type: expected application/x-www-form-urlencoded.');
  }
  return new URLSearchParams((await readBody(request, bytesMax)).toString('utf8'));
}
