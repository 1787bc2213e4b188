/** Those who hold tokens: they come in with them, before and after each was revoked or has expired. */
import { Failure } from '../../../src/domain/failure.ts';
import { type Authenticator, createAuthenticator } from '../../../src/operations/access/authenticate.ts';
import type { Node } from '../daemon.ts';
import type { Place } from '../place.ts';
import type { Action } from '../plan/plan.ts';
import { runAs } from '../world/current.ts';
import type { Host } from '../world/host.ts';

/** As the answer to `token.create` shows it. */
export interface Held {
  readonly id: string;
  readonly token: string;
  /** RFC 3339; null for one that does not expire. */
  readonly expires_at: string | null;
}

const USES = 3;
const USE_MS = 1_000;

export class Holders {
  readonly #place: Place;
  readonly #doors = new WeakMap<Node, Promise<Authenticator>>();
  readonly #held: Held[] = [];
  /** Tokens of which a revoke was answered. */
  readonly #revoked = new Set<string>();

  constructor(place: Place) {
    this.#place = place;
  }

  /** The answer to a call; null for a refusal. */
  learn(operation: string, data: unknown): void {
    if (data === null) return;
    if (operation === 'token.create') {
      this.#held.push(data as Held);
      this.#use(data as Held);
    }
    if (operation !== 'token.revoke') return;
    const { id } = data as Held;
    this.#revoked.add(id);
    for (const held of this.#held) if (held.id === id) this.#use(held);
  }

  enter({ at }: Extract<Action, { do: 'enter' }>): void {
    const held = this.pick(at);
    if (held !== undefined) this.#enterWith(held);
  }

  /** By its share of those that were made; undefined where none was. */
  pick(at: number): Held | undefined {
    return this.#held[Math.floor(at * this.#held.length)];
  }

  /** Whether a revoke of it was answered. */
  isRevoked({ id }: Held): boolean {
    return this.#revoked.has(id);
  }

  /** Where people come in. To be called as the daemon. */
  door(node: Node): Promise<Authenticator> {
    let door = this.#doors.get(node);
    if (door === undefined) this.#doors.set(node, (door = openDoor(node)));
    return door;
  }

  /** A program that has a token uses it all the time, also when it was just revoked. */
  #use(held: Held): void {
    const { world } = this.#place;
    for (let n = 0; n < USES; n += 1)
      world.later('holder', world.chance.of('holders').whole(0, USE_MS), () => this.#enterWith(held));
  }

  #enterWith(held: Held): void {
    const { world, nodes } = this.#place;
    const living = [...nodes];
    if (living.length === 0) return;
    const [host, node] = world.chance.of('holders').pick(living);
    const who = { host, life: host.life };
    runAs(who, () =>
      world.add('enter', 0, () => {
        void this.#enterAs({ host, node, life: host.life }, held);
      }),
    );
  }

  async #enterAs({ host, node, life }: { host: Host; node: Node; life: number }, held: Held): Promise<void> {
    const { world, watch } = this.#place;
    const before = this.standing(held, host);
    try {
      const isIn = await this.#ask(node, held);
      if (!world.lives({ host, life })) return;
      world.note(`${host.name} ${isIn ? 'accepts' : 'refuses'} the token ${held.id}`);
      this.#judge(held, isIn, [before, this.standing(held, host)]);
    } catch (error) {
      if (!world.lives({ host, life }) || error instanceof Failure) return;
      if (!/disk|full|not open|closed/.test(String(error)))
        watch.violated('C1', `a token was not checked: ${String(error)}`);
    }
  }

  /** By the clock of this daemon's machine. */
  standing({ id, expires_at: expiresAt }: Held, host: Host): 'valid' | 'expired' | 'revoked' {
    if (this.#revoked.has(id)) return 'revoked';
    return expiresAt !== null && Date.parse(expiresAt) <= this.#place.world.wallOf(host) ? 'expired' : 'valid';
  }

  #judge({ id, expires_at: expiresAt }: Held, isIn: boolean, [before, after]: readonly [string, string]): void {
    const { watch, store, oracle } = this.#place;
    if (isIn && before === 'revoked') watch.violated('V1', `${id} was accepted after it was revoked`);
    if (isIn && before === 'expired' && after === 'expired') watch.violated('V2', `${id} was accepted and has expired`);
    oracle.timePassed();
    // What has expired by any clock stays expired, whatever that says later.
    if (isIn || (expiresAt !== null && Date.parse(expiresAt) <= oracle.model.latestMs)) return;
    const [row] = store.rows('select revoked_at from tokens where id = ?', id);
    if (row?.['revoked_at'] === null) watch.violated('V3', `${id} was refused and is valid`);
  }

  /** Whether somebody comes in with it. To be called as the daemon. */
  async #ask(node: Node, { token }: Held): Promise<boolean> {
    try {
      await (await this.door(node)).authenticate({ authorization: [`Bearer ${token}`], cookie: undefined }, 'api');
      return true;
    } catch (error) {
      if (error instanceof Failure && error.code === 'unauthenticated') return false;
      throw error;
    }
  }
}

async function openDoor({ base }: Node): Promise<Authenticator> {
  const { store, clock } = base;
  return createAuthenticator({ store, clock, sealKey: await base.sealKey() });
}
