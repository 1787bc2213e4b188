import { createHash, type Hash } from 'node:crypto';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { Chance, type Stream } from './chance.ts';
import { drained, openWorld, runAs, running } from './current.ts';
import type { Host, Running } from './host.ts';

/** Something that can happen: at once, or when its time has come. */
interface Item {
  readonly kind: string;
  readonly owner: Running | null;
  readonly at: number;
  readonly run: () => void;
  isDropped: boolean;
}

/** Before the time of any real machine, so that a time that leaked in is seen. */
const EPOCH = Date.UTC(2025, 10, 26, 8);
/** A timer is late in this share of the moves of time, by at most `mostMs` milliseconds. */
const LATE = { share: 0.3, mostMs: 30 };

/** How often faults come by chance. */
export interface FaultRates {
  /** At each step: some daemon is killed. */
  step: number;
  /** Just before and just after each commit: its daemon is killed. */
  commit: number;
}

/** Time, chance, and which of the things that can happen does so next. The same seed makes the same run. */
export class World {
  readonly seed: number;
  readonly chance: Chance;
  readonly hosts: Host[] = [];
  readonly trace: string[] = [];
  readonly rates: FaultRates = { step: 0, commit: 0 };
  keepsTrace = false;
  /** The id of a row that the rules do not see, so that one of them must break; null for none. */
  hides: string | null = null;
  /** Milliseconds since the world began. */
  now = 1_000;
  steps = 0;
  commits = 0;
  /** Where the files of people are, which daemons know by other paths. */
  folder = '';
  /** Called after each commit, when the rows are there for all to see. */
  onCommit: (by: Host) => void = () => undefined;
  /** Called when a daemon uses a function that is denied to it: it may catch the error. */
  onDenied: (what: string) => void = () => undefined;
  /** Kills it now. */
  kill: (host: Host) => void = () => undefined;
  /** The next commit to this file is the last before the power is lost; null where none is. */
  powerLoss: { readonly file: string; readonly during: World['commit'] } | null = null;
  /** Waits until a server has answered what it was sent in this step; null without a server. */
  settle: (() => Promise<void>) | null = null;
  readonly #hash: Hash = createHash('sha256');
  readonly #order: Stream;
  #ready: Item[] = [];
  #timers: Item[] = [];

  constructor(seed: number) {
    this.seed = seed;
    this.chance = new Chance(seed);
    this.#order = this.chance.of('order');
    openWorld(this);
  }

  /** The real path of a file of people. */
  pathOf(path: string): string {
    return join(this.folder, path);
  }

  /** Part of what two runs of a seed have in common. */
  note(text: string): void {
    const line = `${this.now.toFixed(0)} ${text}`;
    this.#hash.update(`${this.steps} ${line}\n`);
    if (this.keepsTrace) this.trace.push(line);
  }

  /** What the run was, as 16 hex digits. It can be asked for once. */
  digest(): string {
    return this.#hash.digest('hex').slice(0, 16);
  }

  /** Queues work of the daemon whose code runs; it is dropped when that dies. The result drops it, too. */
  add(kind: string, afterMs: number, run: () => void): () => void {
    const owner = running();
    const item: Item = { kind, owner, at: this.now + Math.max(0, afterMs), run, isDropped: false };
    if (owner !== null && !this.lives(owner)) return () => undefined;
    (afterMs <= 0 ? this.#ready : this.#timers).push(item);
    return () => void (item.isDropped = true);
  }

  /** Queues work of the world itself, which no kill drops. */
  later(kind: string, afterMs: number, run: () => void): () => void {
    return runAs(null, () => this.add(kind, afterMs, run));
  }

  /** A place where anything else may happen first. */
  point(kind: string): Promise<void> {
    return new Promise((resolve) => this.add(kind, 0, resolve));
  }

  lives({ host, life }: Running): boolean {
    return host.isAlive && host.life === life;
  }

  /** What it was about to do is gone, and its files are closed, as by the kernel. */
  drop(host: Host): void {
    host.isAlive = false;
    for (const list of [this.#ready, this.#timers])
      for (const item of list) if (item.owner?.host === host) item.isDropped = true;
    host.watchers.clear();
    // An open transaction is rolled back, and its locks are gone.
    for (const handle of host.handles) handle.close();
  }

  /** Of the daemon whose code runs; of the real machine where none does. */
  clock(): Clock {
    const who = running();
    if (who === null) return systemClock;
    return {
      now: () => this.wallOf(who.host),
      monotonic: () => this.now,
      // Never at once: a timer of no time lets others go first.
      after: (ms, fire) => this.add('timer', Math.max(ms, 0.001), fire),
    };
  }

  wallOf({ machine }: Pick<Host, 'machine'>): number {
    return Math.floor(EPOCH + this.now + machine.aheadMs + machine.apartMs);
  }

  /** On this connection of the daemon, which is asked to write it. */
  commit(by: Host, connection: DatabaseSync, write: () => unknown): unknown {
    if (this.powerLoss?.file === connection.location()) return this.powerLoss.during(by, connection, write);
    const answer = write();
    this.committed(by);
    return answer;
  }

  committed(by: Host): void {
    this.commits += 1;
    this.note(`commit ${by.name}`);
    this.onCommit(by);
    this.#tellWatchers();
    if (this.chance.of(`${by.name}/kill`).chance(this.rates.commit)) this.kill(by);
  }

  /** One step: one of the things that are ready, by chance; without any, time moves on. False when nothing is left. */
  async step(): Promise<boolean> {
    if (this.#ready.some(({ isDropped }) => isDropped)) this.#ready = this.#ready.filter((each) => !each.isDropped);
    const able = this.#ready.filter(({ owner }) => owner === null || owner.host.stoppedUntil <= this.now);
    if (able.length === 0) return this.#moveOn();
    const item = this.#order.pick(able);
    this.#ready.splice(this.#ready.indexOf(item), 1);
    this.steps += 1;
    const kills = this.chance.of('kill');
    if (this.rates.step > 0 && kills.chance(this.rates.step)) this.kill(kills.pick(this.hosts));
    if (item.owner !== null && !this.lives(item.owner)) return true;
    this.#hash.update(`${this.steps} ${this.now} ${item.kind} ${item.owner?.host.name ?? '-'}\n`);
    runAs(item.owner, item.run);
    // Everything that follows from it without waiting is done before the next choice.
    await drained();
    if (this.settle !== null) await this.settle();
    return true;
  }

  end(): void {
    openWorld(null);
  }

  #moveOn(): boolean {
    this.#timers = this.#timers.filter(({ isDropped }) => !isDropped);
    const wakes = this.hosts.map(({ stoppedUntil }) => stoppedUntil).filter((at) => at > this.now);
    const next = Math.min(...this.#timers.map(({ at }) => at), ...wakes);
    if (next === Number.POSITIVE_INFINITY) return false;
    const late = this.chance.of('time');
    // Several that are due in the same moment come in any order.
    this.now = Math.max(this.now, next) + (late.chance(LATE.share) ? late.whole(0, LATE.mostMs) : 0);
    this.#ready.push(...this.#timers.filter(({ at }) => at <= this.now));
    this.#timers = this.#timers.filter(({ at }) => at > this.now);
    return true;
  }

  /** The event of the kernel comes some time later, and sometimes never: the polls have to find the commit. */
  #tellWatchers(): void {
    for (const host of this.hosts) {
      const lost = this.chance.of(`${host.name}/watch`);
      for (const listener of host.watchers) {
        if (lost.chance(0.05)) continue;
        const afterMs = lost.chance(0.7) ? 0 : lost.whole(1, 20);
        runAs({ host, life: host.life }, () =>
          this.add('watch', afterMs, () => listener('change', 'gatehouse.db-wal')),
        );
      }
    }
  }
}
