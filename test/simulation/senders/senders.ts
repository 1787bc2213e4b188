/** Programs that send alerts: each sends until it was answered that the alert is accepted. */
import { Failure } from '../../../src/domain/failure.ts';
import type { Accepted } from '../../../src/operations/events/hooks-in.ts';
import type { Node } from '../daemon.ts';
import type { Place } from '../place.ts';
import type { Action } from '../plan/plan.ts';
import { runAs } from '../world/current.ts';
import { openHooks, type Hooks } from './hooks.ts';

type Delivery = Extract<Action, { do: 'deliver' }>;

/** As long as a sender waits for an answer. */
const ANSWER_MS = 10_000;
/** From a failed try to the next one, at most. */
const AGAIN_MS = 4_000;

export class Senders {
  /** Alerts that are not accepted yet. */
  waiting = 0;
  readonly #place: Place;
  readonly #hooks = new WeakMap<Node, Hooks>();
  /** The tokens of webhooks, by their name: the URL is shown once. */
  readonly #tokens = new Map<string, string>();
  /** Accepted events, by their id. */
  readonly #accepted = new Map<string, string>();

  constructor(place: Place) {
    this.#place = place;
  }

  /** The answer to a call of the scene. */
  learn(operation: string, data: unknown): void {
    if (operation !== 'webhook.add') return;
    const { name, url } = data as { name: string; url: string };
    this.#tokens.set(name, url.split('/').at(-1) ?? '');
  }

  deliver(delivery: Delivery): void {
    this.waiting += 1;
    this.#try(delivery);
  }

  /** Once nothing is left to happen: what was acknowledged is in the ledger of events. */
  lookAtRest(): void {
    const { store, watch } = this.#place;
    if (this.waiting > 0) watch.violated('H1', `${this.waiting} alerts were never accepted`);
    const rows = store.rows('select id, outcome from events');
    const there = new Map(rows.map(({ id, outcome }) => [String(id), String(outcome)]));
    for (const [id, outcome] of this.#accepted)
      if (there.get(id) !== outcome)
        watch.violated('H2', `${id} was acknowledged as ${outcome} and is ${there.get(id) ?? 'not there'}`);
  }

  #try(delivery: Delivery): void {
    const { world, nodes } = this.#place;
    const chance = world.chance.of('senders');
    let isOver = false;
    const over = (accepted: boolean): void => {
      if (isOver) return;
      isOver = true;
      if (accepted) this.waiting -= 1;
      else world.later('sender', chance.whole(1, AGAIN_MS), () => this.#try(delivery));
    };
    const living = [...nodes];
    if (living.length === 0) return over(false);
    const [host, node] = chance.pick(living);
    const who = { host, life: host.life };
    world.note(`a sender sends ${JSON.stringify(delivery.alerts)} to ${delivery.hook} of ${host.name}`);
    world.later('sender', ANSWER_MS, () => over(false));
    const answered = (accepted: Accepted | null, words: string): void => {
      // The connection was lost: the sender knows nothing.
      if (!world.lives(who)) return;
      world.note(`${host.name} answers the sender: ${words}`);
      for (const { event_id: id, outcome } of accepted?.events ?? []) this.#accepted.set(id, outcome);
      over(accepted !== null);
    };
    runAs(who, () =>
      world.add('delivery', 0, () => {
        this.#receive(node, delivery).then(
          (accepted) => answered(accepted, JSON.stringify(accepted)),
          (error: unknown) => {
            if (world.lives(who) && !(error instanceof Failure) && !/disk|full|not open|closed/.test(String(error)))
              this.#place.watch.violated('C1', `a delivery threw ${String(error)}`);
            answered(null, String(error));
          },
        );
      }),
    );
  }

  #receive(node: Node, { hook, alerts }: Delivery): Promise<Accepted> {
    let hooks = this.#hooks.get(node);
    if (hooks === undefined) this.#hooks.set(node, (hooks = openHooks(node.runtime)));
    return hooks(this.#tokens.get(hook) ?? '', Buffer.from(JSON.stringify({ version: '4', alerts })));
  }
}
