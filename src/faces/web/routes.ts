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
import { PAGE_HEADERS, shell } from '../html/shell.ts';
import { commandInstead, missingPage, unmadePage } from './pages/missing.ts';
import type { Page } from './pages/page.ts';
import { signInPage } from './pages/sign-in.ts';
import { refuseForeign, refuseWrongCsrf } from './same-origin.ts';

/** A form holds a token of 75 characters and little else. */
const FORM_MAX_BYTES = 4_096;

interface PageParts {
  readonly authenticator: Authenticator;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly version: string;
  readonly basePath: string;
  /** Tells whether the client reached a trusted proxy by https. */
  readonly peers: Peers;
  /** Whether browsers reach us by https only. */
  readonly secureCookies: boolean;
}

/** The routes outside the API. Their promises never reject. */
export class Pages {
  readonly #parts: PageParts;

  constructor(parts: PageParts) {
    this.#parts = parts;
  }

  /** The caller of a route outside the API. Without one it answers itself, with the sign-in page for a browser. */
  async visitor(exchange: Exchange): Promise<Caller | null> {
    const { authenticator, sender } = this.#parts;
    try {
      return await authenticator.authenticate(credentialsOf(exchange.request), 'web');
    } catch (error) {
      const isPage = exchange.request.method === 'GET' || exchange.request.method === 'HEAD';
      if (isPage && error instanceof Failure && error.code === 'unauthenticated') this.#signInPage(exchange, error);
      else sender.sendFailure(exchange, error);
      return null;
    }
  }

  async show({ title, scopes, content }: Page, exchange: Exchange): Promise<void> {
    const caller = await this.visitor(exchange);
    if (caller === null) return;
    const { authenticator, basePath, version, sender } = this.#parts;
    if (!scopes.some((each) => caller.scopes.includes(each))) {
      sender.sendFailure(exchange, new Failure('forbidden', 'The pages need another scope than host.'));
      return;
    }
    const { name, scope } = caller;
    const visitor = { name, scope, csrf: authenticator.csrfOf(caller) };
    sender.send(exchange, 200, PAGE_HEADERS, shell(title, content({ basePath, version, visitor })));
  }

  async missing(exchange: Exchange): Promise<void> {
    const caller = await this.visitor(exchange);
    if (caller === null) return;
    const { basePath, sender } = this.#parts;
    const command = commandInstead(exchange.request.url ?? '');
    if (caller.credential === 'session')
      sender.send(
        exchange,
        404,
        PAGE_HEADERS,
        command === null ? missingPage(basePath) : unmadePage(basePath, command),
      );
    else sender.sendFailure(exchange, new Failure('not_found', 'There is no such page.'));
  }

  async login(exchange: Exchange): Promise<void> {
    const { authenticator, sender, clock } = this.#parts;
    try {
      refuseForeign(exchange.request);
      const form = await readForm(exchange.request);
      const token = form.get('token')?.trim() ?? '';
      if (token === '') throw new Failure('invalid_argument', 'token: this field is required.');
      const { cookie, expiresAt } = await authenticator.signIn(token);
      const seconds = Math.max(0, Math.ceil((expiresAt - clock.now()) / 1_000));
      this.#toDashboard(exchange, this.#cookie(exchange, cookie, seconds));
    } catch (error) {
      if (error instanceof Failure) this.#signInPage(exchange, error, error.message);
      else sender.sendFailure(exchange, error);
    }
  }

  async logout(exchange: Exchange): Promise<void> {
    const { authenticator, sender } = this.#parts;
    try {
      refuseForeign(exchange.request);
      const caller = await authenticator.authenticate(credentialsOf(exchange.request), 'web');
      const form = await readForm(exchange.request);
      refuseWrongCsrf(authenticator.csrfOf(caller), form.get('csrf'));
      for (const value of cookieValues(exchange.request.headers.cookie)) await authenticator.signOut(value);
      this.#toDashboard(exchange, this.#cookie(exchange, '', 0));
    } catch (error) {
      sender.sendFailure(exchange, error);
    }
  }

  #signInPage(exchange: Exchange, failure: Failure, message?: string): void {
    const body = (): string => signInPage(this.#parts.basePath, message);
    this.#parts.sender.sendFailure(exchange, failure, { headers: PAGE_HEADERS, body });
  }

  // The location is a path without a part of the request, so a Host header cannot redirect elsewhere.
  #toDashboard(exchange: Exchange, cookie: string): void {
    const headers: HeaderList = [...PAGE_HEADERS, 'Location', `${this.#parts.basePath}/`, 'Set-Cookie', cookie];
    this.#parts.sender.send(exchange, 303, headers, '');
  }

  #cookie({ request }: Exchange, value: string, seconds: number): string {
    const path = this.#parts.basePath === '' ? '/' : this.#parts.basePath;
    const secure = this.#parts.secureCookies || this.#parts.peers.of(request).https ? '; Secure' : '';
    return `${SESSION_COOKIE}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
  }
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new Failure('invalid_argument', 'Content-Type: expected application/x-www-form-urlencoded.');
  }
  return new URLSearchParams((await readBody(request, FORM_MAX_BYTES)).toString('utf8'));
}
