/** People and programs that call operations, and what their answers mean to them. */
import { type Caller, localCaller } from '../../src/domain/access/caller.ts';
import { Failure } from '../../src/domain/failure.ts';
import { type Answer, invoke } from '../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { AREAS } from './areas/areas.ts';
import type { Node } from './daemon.ts';
import type { Asked } from './oracle/calls.ts';
import type { Action, Actor, Pick } from './plan/plan.ts';
import type { Place } from './place.ts';
import { runAs } from './world/current.ts';
import type { Running } from './world/host.ts';

type Call = Extract<Action, { do: 'call' }>;
/** What is asked for, and by whom. */
type Order = Omit<Asked, 'who'>;

/** A daemon that answers, in one of its lives. */
export interface Living extends Running {
  readonly node: Node;
}

/** `code` is ok, or that of a failure; answers are counted by `kind`. */
export interface Reply {
  readonly code: string;
  readonly kind: string;
  readonly data: unknown;
}

const person = (owner: string, ...scopes: readonly [Caller['scope'], ...Caller['scope'][]]): Caller => ({
  id: `tok_${owner}`,
  name: owner,
  owner,
  scope: scopes[0],
  scopes: [...new Set<Caller['scope']>(['readonly', ...scopes])],
  via: 'api',
  credential: 'token',
  expiresAt: null,
  agent: null,
});

const ACTORS: Readonly<Record<Actor, Caller>> = {
  // May decide, but not about what she asked for.
  operator: person('olga', 'operator', 'approve'),
  decider: person('dan', 'approve'),
  reader: person('rita', 'readonly'),
  // It has no other scope, not even to read.
  host: { ...person('web1', 'host'), scopes: ['host'] },
  local: localCaller('root'),
  // On the machine too. What root has added is of root, with all that it asks for.
  neighbour: localCaller('nina'),
};

const BY_ID = new Map(OPERATIONS.map((each) => [each.id, each]));

/** Where a picked one is in the store. */
const TABLES = new Map(AREAS.flatMap(({ picks = {} }) => Object.entries(picks)));

export class Clients {
  /** How often each answer came, by operation and code. */
  readonly answers = new Map<string, number>();
  readonly #place: Place;
  readonly #hidesJob: boolean;
  /** The calls without an answer, by the life of the daemon that has each. */
  readonly #open = new Set<Running>();
  readonly #keyed: { readonly call: Call; readonly raw: Readonly<Record<string, unknown>> }[] = [];

  /** `hidesJob`: the first acknowledged job is hidden from the rules, which have to notice. */
  constructor(place: Place, hidesJob: boolean) {
    this.#place = place;
    this.#hidesJob = hidesJob;
    place.isAwaited = ({ host, life }) => [...this.#open].some((who) => who.host === host && who.life === life);
  }

  /** Calls it on some living daemon. Resolves with its data; null for a refusal, and never where the daemon dies. */
  act(call: Call): Promise<unknown> {
    const raw = this.#resolved(call.raw);
    if (raw === null) return Promise.resolve(null);
    if (call.key !== undefined) this.#keyed.push({ call, raw });
    return this.#send(call, raw);
  }

  repeat(): void {
    const last = this.#keyed.at(-1);
    if (last !== undefined) void this.#send(last.call, last.raw);
  }

  /** Whether an answer may still come. */
  get isBusy(): boolean {
    return [...this.#open].some((who) => this.#place.world.lives(who));
  }

  /** Calls it on this daemon, as this caller: somebody who has come in there. */
  async actOn(on: Living, call: Call, caller: Caller): Promise<unknown> {
    const raw = this.#resolved(call.raw);
    return raw === null ? null : this.#call(on, call, raw, caller);
  }

  #send(call: Call, raw: Readonly<Record<string, unknown>>): Promise<unknown> {
    const on = someDaemon(this.#place, 'clients');
    return on === null ? Promise.resolve(null) : this.#call(on, call, raw, ACTORS[call.as]);
  }

  async #call(on: Living, call: Call, raw: Order['raw'], caller: Caller): Promise<unknown> {
    const operation = BY_ID.get(call.operation);
    if (operation === undefined) throw new Error(`there is no operation ${call.operation}`);
    const order = { operation: call.operation, caller, raw, key: call.key };
    const { code, data } = await this.ask(on, order, call.as, async () =>
      readAnswer(await invoke(on.node.runtime, operation, { caller, raw, idempotencyKey: call.key })),
    );
    if (code !== 'ok') return null;
    this.#learn(call, data);
    return data;
  }

  /** Asks this daemon; `work` is done as it. Resolves with what it answers, and never where it dies. */
  ask(on: Living, order: Order, who: string, work: () => Promise<Reply>): Promise<Reply> {
    const { world, watch, oracle } = this.#place;
    const { host, life } = on;
    const asked = { host, life };
    this.#open.add(asked);
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const heard = oracle.called({ ...order, who: asked });
    const answered = (reply: Reply): void => {
      this.#open.delete(asked);
      // The connection was lost: nothing is known.
      if (!world.lives(asked)) return;
      const { code, kind, data } = reply;
      const name = `${order.operation} ${kind}`;
      this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
      world.note(`${host.name} answers ${who}: ${name} ${JSON.stringify(data ?? null)}`);
      oracle.answered(heard, code, data);
      resolve(reply);
    };
    world.note(`${who} calls ${order.operation} ${JSON.stringify(order.raw)} of ${host.name}`);
    runAs(asked, () =>
      world.add('call', 0, () => {
        work().then(answered, (error: unknown) => {
          if (!world.lives(asked)) return;
          if (!(error instanceof Failure) && !/disk|full|not open|closed/.test(String(error)))
            watch.violated('C1', `${order.operation} threw ${error instanceof Error ? error.stack : String(error)}`);
          const code = error instanceof Failure ? error.code : 'internal';
          answered({ code, kind: code, data: String(error) });
        });
      }),
    );
    return promise;
  }

  #learn({ operation, key }: Call, data: unknown): void {
    if (operation !== 'command.run' || key === undefined) return;
    const { job_id: id } = data as { job_id: string };
    if (this.#hidesJob) this.#place.world.hides ??= id;
    this.#place.watch.acknowledge(id, key);
  }

  /** Null where there is nothing to pick. */
  #resolved(raw: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | null {
    const fields: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(raw)) {
      const list = Array.isArray(value);
      const one: unknown = list ? value[0] : value;
      const id = isPick(one) ? this.#some(one) : one;
      if (id === undefined) return null;
      fields[name] = !isPick(one) ? value : list ? [id] : id;
    }
    return fields;
  }

  #some({ of, at }: Pick): string | undefined {
    const table = TABLES.get(of);
    if (table === undefined) throw new Error(`no area has rows that are called ${of}`);
    const ids = this.#place.store.rows(`select id from ${table} order by id`) as readonly { id: string }[];
    return ids[Math.floor(at * ids.length)]?.id;
  }
}

/** One that lives, by the chance of this purpose; null where none does. */
export function someDaemon({ world, nodes }: Place, purpose: string): Living | null {
  const living = [...nodes];
  if (living.length === 0) return null;
  const [host, node] = world.chance.of(purpose).pick(living);
  return { host, node, life: host.life };
}

async function readAnswer(answer: Answer): Promise<Reply> {
  if (answer.shape === 'body') return { code: 'ok', kind: answer.kind, data: answer.data };
  if (answer.shape !== 'batches') return { code: 'ok', kind: 'ok', data: null };
  let text = '';
  for await (const part of answer.body) text += part;
  return { code: 'ok', kind: answer.kind, data: (JSON.parse(text) as { data: unknown }).data };
}

function isPick(value: unknown): value is Pick {
  return typeof value === 'object' && value !== null && 'of' in value && 'at' in value;
}
