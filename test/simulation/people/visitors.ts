/** People in the console: they sign in with tokens, look and decide in their sessions, and sign out. */
import { createHash } from 'node:crypto';
import type { Caller } from '../../../src/domain/access/caller.ts';
import { Failure } from '../../../src/domain/failure.ts';
import type { Authenticator } from '../../../src/operations/access/authenticate.ts';
import { SESSION_COOKIE, type SignedIn } from '../../../src/operations/access/sessions.ts';
import { type Clients, type Living, someDaemon } from '../clients.ts';
import type { Place } from '../place.ts';
import type { Action, Browsing } from '../plan/plan.ts';
import type { Held, Holders } from '../senders/holders.ts';
import { runAs } from '../world/current.ts';
import type { Host } from '../world/host.ts';

interface Session extends SignedIn {
  /** Of its row. */
  readonly id: string;
  readonly held: Held;
  /** A sign-out was answered, or may have been carried out. */
  isClosed: boolean;
  isClosing: boolean;
}

type Standing = 'open' | 'closed' | 'revoked' | 'expired' | 'away';

const PURPOSE = 'visitors';
/** A browser that is open asks again by itself, also just after the end. */
const USES = 3;
const USE_MS = 1_000;
/** The clocks of a world are never as far ahead. */
const EXPIRED_MS = 6 * 3_600_000;

export class Visitors {
  readonly #place: Place;
  readonly #clients: Clients;
  readonly #holders: Holders;
  readonly #sessions: Session[] = [];

  constructor(place: Place, clients: Clients, holders: Holders) {
    this.#place = place;
    this.#clients = clients;
    this.#holders = holders;
  }

  browse({ at, what }: Extract<Action, { do: 'browse' }>): void {
    const session = this.#sessions[Math.floor(at * this.#sessions.length)];
    if (what === 'sign-in') {
      const held = this.#holders.pick(at);
      if (held !== undefined) void this.#signIn(held);
    } else if (session !== undefined) void (what === 'sign-out' ? this.#signOut(session) : this.#use(session, what));
  }

  /** The answer to a call: the token of a session may have been revoked. */
  learn(operation: string, data: unknown): void {
    if (operation !== 'token.revoke' || data === null) return;
    const { id } = data as Held;
    for (const session of this.#sessions) if (session.held.id === id) this.#useSoon(session);
  }

  async #signIn(held: Held): Promise<void> {
    const { world, watch } = this.#place;
    const on = someDaemon(this.#place, PURPOSE);
    if (on === null) return;
    const before = this.#holders.standing(held, on.host);
    const signedIn = await this.#at(on, `sign-in with ${held.id}`, (door) => door.signIn(held.token));
    if (signedIn === null) return;
    if (before === 'revoked') watch.violated('V1', `${held.id} opened a session after it was revoked`);
    const id = createHash('sha256').update(signedIn.cookie).digest('hex');
    world.note(`the session ${id.slice(0, 8)} of ${held.id} ends at ${signedIn.expiresAt}`);
    const session = { ...signedIn, id, held, isClosed: false, isClosing: false };
    this.#sessions.push(session);
    this.#useSoon(session);
  }

  async #signOut(session: Session): Promise<void> {
    const on = someDaemon(this.#place, PURPOSE);
    if (on === null) return;
    session.isClosing = true;
    const isOut = await this.#at(on, `sign-out of ${session.id.slice(0, 8)}`, async (door) => {
      await door.signOut(session.cookie);
      return true;
    });
    if (isOut !== true) return;
    session.isClosed = true;
    this.#useSoon(session);
  }

  #useSoon(session: Session): void {
    const { world } = this.#place;
    for (let n = 0; n < USES; n += 1)
      world.later('visitor', world.chance.of(PURPOSE).whole(0, USE_MS), () => void this.#use(session, 'look'));
  }

  async #use(session: Session, what: Browsing): Promise<void> {
    const on = someDaemon(this.#place, PURPOSE);
    if (on === null) return;
    const before = this.#standing(session, on.host);
    const cookie = `${SESSION_COOKIE}=${session.cookie}`;
    const name = `session ${session.id.slice(0, 8)}`;
    const caller = await this.#at(on, name, (door) => door.authenticate({ authorization: [], cookie }, 'web'));
    this.#judge(session, caller, [before, this.#standing(session, on.host)]);
    if (caller === null) return;
    if (what === 'look') {
      const isOpen = await this.#at(on, `stream of ${name}`, (door) => door.stillValid(caller));
      return this.#judge(session, isOpen === true ? caller : null, [before, this.#standing(session, on.host)]);
    }
    const approval = { of: 'approval', at: this.#place.world.chance.of(PURPOSE).next() } as const;
    const call = { do: 'call', afterMs: 0, as: 'decider', operation: 'approval.decision' } as const;
    await this.#clients.actOn(on, { ...call, raw: { id: approval, decision: what } }, caller);
  }

  /** By the rows, and by what people were answered. */
  #standing(session: Session, host: Host): Standing {
    const { store, world } = this.#place;
    const now = world.wallOf(host);
    const { held, isClosed, isClosing, id, expiresAt } = session;
    if (isClosed) return 'closed';
    if (this.#holders.isRevoked(held)) return 'revoked';
    const [token] = store.rows('select expires_at, revoked_at from tokens where id = ?', held.id);
    const [row] = store.rows('select expires_at from sessions where id = ?', id);
    if (token === undefined || token['revoked_at'] !== null || isClosing) return 'away';
    // One that has expired is removed, whatever the clock says later.
    if (row === undefined) return expiresAt - now > EXPIRED_MS ? 'open' : 'away';
    const ends = [row, token].flatMap(({ expires_at: at }) => (at === null ? [] : [Number(at)]));
    return Math.min(...ends) <= now ? 'expired' : 'open';
  }

  #judge(session: Session, caller: Caller | null, [before, after]: readonly [Standing, Standing]): void {
    const { watch, store } = this.#place;
    const name = `the session ${session.id.slice(0, 8)} of ${session.held.id}`;
    if (caller === null) {
      // What has expired stays expired, whatever the clock says later.
      if (before === 'open' && after === 'open' && session.held.expires_at === null)
        watch.violated('V7', `${name} was refused and is open`);
      return;
    }
    if (before === 'closed') watch.violated('V4', `${name} was accepted after it was closed`);
    if (before === 'revoked') watch.violated('V5', `${name} was accepted after its token was revoked`);
    if (before === 'expired' && after === 'expired') watch.violated('V6', `${name} was accepted and has expired`);
    const [token] = store.rows('select owner from tokens where id = ?', session.held.id);
    if (caller.owner !== token?.['owner']) watch.violated('V8', `${name} is one of ${caller.owner}`);
  }

  /** Null where no one comes in; never resolves where nothing is known, as after the death of the daemon. */
  #at<T>(on: Living, what: string, work: (door: Authenticator) => Promise<T>): Promise<T | null> {
    const { world, watch } = this.#place;
    const { promise, resolve } = Promise.withResolvers<T | null>();
    const answered = (words: string): void => world.note(`${on.host.name} answers ${what}: ${words}`);
    const accepted = (value: T): void => {
      if (!world.lives(on)) return;
      answered('ok');
      resolve(value);
    };
    const refused = (error: unknown): void => {
      if (!world.lives(on)) return;
      answered(String(error));
      if (error instanceof Failure && error.code === 'unauthenticated') resolve(null);
      else if (!(error instanceof Failure) && !/disk|full|not open|closed/.test(String(error)))
        watch.violated('C1', `${what} threw ${String(error)}`);
    };
    const asked = (): void => void this.#holders.door(on.node).then(work).then(accepted, refused);
    runAs(on, () => world.add('visit', 0, asked));
    return promise;
  }
}
