import type { Client, QueryConfig, QueryResult } from 'pg';
import { runAs } from '../../world/current.ts';
import type { Running } from '../../world/host.ts';
import type { Gate } from './gate.ts';

/** In milliseconds of the world. */
export interface Limits {
  /** Of the wait for a lock. */
  readonly lockMs: number;
  /** Of a session that is idle in a transaction. */
  readonly idleMs: number;
}

type Answer = (error: Error | null, result?: Result) => void;
type Result = Pick<QueryResult, 'command' | 'rowCount' | 'rows'>;

interface Statement {
  readonly config: QueryConfig;
  readonly answer: Answer;
}

export interface Opened {
  readonly client: Client;
  readonly who: Running;
  readonly limits: Limits;
  readonly real: Real;
}

/** The methods of the driver. */
interface Real {
  connect(done: (error: Error | null) => void): void;
  end(): Promise<void>;
  emit(name: string, args: readonly unknown[]): boolean;
  query(config: QueryConfig, answer: (error: Error | null, result?: Result) => void): void;
}

/** What the driver has and its types do not. */
interface Inner {
  readonly processID: number | null;
}

const NOTE_CHARS = 90;
/** Of a notification: lost with its connection, or late by at most this many milliseconds. */
const NOTICE = { lostShare: 0.03, lateShare: 0.3, lateMs: 20 };
const NO_ROWS: Result = { command: 'LISTEN', rowCount: null, rows: [] };

/** A connection of a daemon. One statement at a time is with the server; those behind it wait here. */
export class Session {
  readonly number: number;
  readonly name: string;
  readonly limits: Limits;
  readonly #gate: Gate;
  readonly #who: Running;
  readonly #client: Client;
  readonly #real: Real;
  #isEnded = false;
  /** Called at the end of the connection. */
  readonly #onEnd: (() => void)[] = [];
  #queue: Statement[] = [];
  /** They come late, and in the order in which the server gave them. */
  readonly #answers: (() => void)[] = [];
  #isCut = false;
  /** The payload of the notification that the open transaction has made. */
  #notice: string | null = null;
  #isNoticeDue = false;
  #stayOpen: () => void = () => undefined;

  constructor(gate: Gate, number: number, { client, who, limits, real }: Opened) {
    this.#gate = gate;
    this.#who = who;
    this.#client = client;
    this.limits = limits;
    this.number = number;
    this.name = `${who.host.name}.${number}`;
    this.#real = real;
    Object.assign(client, {
      connect: () => this.#connect(),
      end: () => this.#end(),
      emit: (name: string, ...args: unknown[]) => this.#emit(name, args),
      query: (given: string | QueryConfig, answer?: Answer) => this.#query(given, answer),
    });
  }

  get pid(): number {
    return (this.#client as unknown as Inner).processID ?? 0;
  }

  /** Its daemon was killed. */
  close(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#queue = [];
    this.#stayOpen();
    this.#who.host.handles.delete(this);
    this.#client.connection.stream.destroy();
    this.#gate.cut(this, this.pid || null);
  }

  /** The server ends it, and the daemon lives. */
  lose(why: string): void {
    if (this.#isCut || this.#isEnded) return;
    this.#gate.world.note(`${this.name} is lost: ${why}`);
    this.#onEnd.push(this.#gate.begin(this));
    this.#gate.end(this.pid);
  }

  hear(payload: string): void {
    const { world } = this.#gate;
    if (!world.lives(this.#who) || this.#isNoticeDue) return;
    const chance = world.chance.of(`${this.#who.host.name}/notice`);
    if (chance.chance(NOTICE.lostShare)) return void world.later('cut', 0, () => this.lose('by the network'));
    this.#isNoticeDue = true;
    this.#add('notice', chance.chance(NOTICE.lateShare) ? chance.whole(1, NOTICE.lateMs) : 0, () => {
      this.#isNoticeDue = false;
      this.#real.emit('notification', [{ payload }]);
    });
  }

  #connect(): Promise<Client> {
    const { promise, resolve, reject } = Promise.withResolvers<Client>();
    this.#add('connect', 0, () => {
      const done = this.#gate.begin(this);
      const settle = (error: Error | null): void => {
        this.#arrived('connected', () => (error === null ? resolve(this.#client) : reject(error)));
        done();
      };
      const connected = (error: Error | null): void => {
        if (error === null || error === undefined) settle(null);
        // The end of the connection follows.
        else this.#whenEnded(() => settle(error));
      };
      runAs(null, () => this.#real.connect(connected));
    });
    return promise;
  }

  #end(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#add('end', 0, () => {
      this.#stayOpen();
      this.#who.host.handles.delete(this);
      this.#gate.forget(this);
      const done = this.#gate.begin(this);
      const settle = (): void => {
        this.#arrived('ended', resolve);
        done();
      };
      const { pid } = this;
      void runAs(null, () => this.#real.end());
      if (pid === 0) return settle();
      this.#whenEnded(settle);
    });
    return promise;
  }

  /** The loss and the end come when the world says. */
  #emit(name: string, args: readonly unknown[]): boolean {
    const emit = (): boolean => this.#real.emit(name, args);
    if (name !== 'error' && name !== 'end') return emit();
    if (!this.#isCut) this.#arrived(name, () => void emit());
    if (name === 'end') {
      this.#isEnded = true;
      for (const each of this.#onEnd.splice(0)) each();
    }
    return true;
  }

  #query(given: string | QueryConfig, answer?: Answer): Promise<Result> | undefined {
    const config = typeof given === 'string' ? { text: given } : given;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const settle: Answer = (error, result) => (error === null ? resolve(result ?? NO_ROWS) : reject(error));
    this.#queue.push({ config, answer: answer ?? settle });
    if (this.#queue.length === 1) this.#offer();
    return answer === undefined ? promise : undefined;
  }

  #offer(): void {
    const [next] = this.#queue;
    if (next !== undefined) this.#add('sql', 0, () => this.#send(next));
  }

  #send(statement: Statement): void {
    const { world } = this.#gate;
    const { host } = this.#who;
    const { text, values } = statement.config;
    this.#stayOpen();
    world.note(`${this.name} ${text.slice(0, NOTE_CHARS)}`);
    if (text === 'commit' && world.chance.of(`${host.name}/kill`).chance(world.rates.commit)) return world.kill(host);
    if (text.startsWith('listen ')) {
      this.#gate.listens(this);
      return this.#gate.arrived(this, () => this.#answered(statement, null, NO_ROWS));
    }
    if (text.includes('pg_notify')) this.#notice = String(values?.at(-1));
    const done = this.#gate.begin(this);
    const settle: Answer = (error, result) => {
      if (this.#isCut) return;
      this.#gate.arrived(this, () => this.#answered(statement, error ?? null, result));
      done();
    };
    runAs(null, () => this.#real.query(this.#gate.server.rewritten(statement.config), settle));
  }

  #answered(statement: Statement, error: Error | null, result?: Result): void {
    const { world } = this.#gate;
    if (this.#isCut) return;
    const rows = error === null ? `${result?.command} ${result?.rowCount}` : String(error);
    world.note(`${this.name} is answered: ${rows}`);
    if (statement.config.text === 'commit' || statement.config.text === 'rollback') {
      const notice = this.#notice;
      this.#notice = null;
      if (result?.command === 'COMMIT') {
        if (notice !== null) this.#gate.notify(notice);
        world.committed(this.#who.host);
      }
    }
    // The commit may have been the last that its daemon did.
    if (!world.lives(this.#who)) return;
    this.#queue.shift();
    this.#answers.push(() => statement.answer(error, result));
    this.#add('answer', 0, () => this.#answers.shift()?.());
    this.#offer();
    this.#limitIdle();
  }

  #limitIdle(): void {
    const status = this.#client.getTransactionStatus();
    if (this.limits.idleMs === Number.POSITIVE_INFINITY || status === null || status === 'I') return;
    this.#stayOpen = this.#gate.world.later('idle', this.limits.idleMs, () => this.lose('idle in a transaction'));
  }

  #whenEnded(run: () => void): void {
    if (this.#isEnded) run();
    else this.#onEnd.push(run);
  }

  #arrived(kind: string, deliver: () => void): void {
    this.#gate.arrived(this, () => this.#add(kind, 0, deliver));
  }

  /** Work of its daemon. */
  #add(kind: string, afterMs: number, run: () => void): void {
    runAs(this.#who, () => this.#gate.world.add(kind, afterMs, run));
  }
}
