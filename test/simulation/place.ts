/** The machine room of one run: its store, its daemons, its tools, its phone, and who watches. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../../src/domain/failure.ts';
import { pause } from '../../src/lib/clock.ts';
import { IdSequence } from '../../src/lib/id.ts';
import { DialFailed } from '../../src/dial/dial-failed.ts';
import type { Transport } from '../../src/push/transport.ts';
import { bootNode, type Node } from './daemon.ts';
import { Targets } from './network/targets.ts';
import { stopInOrder } from './stop.ts';
import { Oracle } from './oracle/oracle.ts';
import { type Process, Processes } from './programs/processes.ts';
import { Remotes } from './programs/git/remotes.ts';
import { Infrastructure } from './programs/terraform/infrastructure.ts';
import { Watch } from './rules/rules.ts';
import type { WorldStore } from './stores/store.ts';
import { runAs } from './world/current.ts';
import { type Host, newHost, type Running } from './world/host.ts';
import { World } from './world/world.ts';

/** When a daemon that could not be started is started again, in milliseconds. */
const AGAIN_MS = 500;
/** Of a message to the phone. */
const SEND = { mostMs: 800, failShare: 0.1 };

/** Of approvals. Within the shorter ones, deadlines pass while people decide. */
const TTLS = ['60s', '12s', '4s'];

export class Place {
  readonly world: World;
  readonly store: WorldStore;
  readonly watch: Watch;
  readonly oracle: Oracle;
  readonly processes: Processes;
  readonly infrastructure: Infrastructure;
  readonly targets: Targets;
  readonly remotes: Remotes;
  readonly nodes = new Map<Host, Node>();
  readonly messages: string[] = [];
  kills = 0;
  /** A tool uses files of this commit; null where they are of several. */
  onFiles: (process: Process, commit: string | null) => void = () => undefined;
  /** Whether a client waits for an answer of this daemon. */
  isAwaited: (who: Running) => boolean = () => false;
  readonly #approvalTtl: string;

  constructor(world: World, store: WorldStore) {
    this.world = world;
    this.#approvalTtl = world.chance.of('settings').pick(TTLS);
    this.store = store;
    this.watch = new Watch(
      store.rows,
      () => this.processes,
      () => world.now,
    );
    this.oracle = new Oracle({
      rows: store.rows,
      violated: (rule, what) => this.watch.violated(rule, what),
      now: () => world.now,
      wall: () => Math.max(...[store, ...world.hosts].map((each) => world.wallOf(each))),
      hadFault: (sinceMs) => [store, ...world.hosts].some((each) => each.machine.disk.until >= sinceMs),
      hasLeases: store.hasLeases,
      hostOf: (name) => world.hosts.find((host) => host.name === name),
    });
    world.folder = store.folder;
    this.infrastructure = Infrastructure.open(store.rows, (rule, what) => this.watch.violated(rule, what));
    this.targets = Targets.open();
    this.remotes = Remotes.open((process, commit) => this.onFiles(process, commit));
    this.processes = Processes.open(
      (process) => this.watch.started(process),
      ({ jobId }, exit) => this.oracle.exited(jobId, exit),
    );
    world.onCommit = () => {
      this.watch.committed();
      this.oracle.committed();
    };
    world.onDenied = (what) => this.watch.violated('D4', `${what} was called, which is not simulated`);
    world.kill = (host) => this.kill(host, world.chance.of('kill').whole(0, 8_000));
  }

  /** Files of people, by the paths by which daemons know them. */
  makeFiles(texts: readonly (readonly [path: string, text: string])[]): void {
    for (const [path, text] of texts) {
      const real = this.world.pathOf(path);
      mkdirSync(dirname(real), { recursive: true });
      writeFileSync(real, text);
    }
  }

  addDaemon(): void {
    const index = this.world.hosts.length;
    const host = newHost(index, `d${index}`, this.store.machineOf(index));
    this.world.hosts.push(host);
    this.boot(host);
  }

  boot(host: Host): void {
    const { world } = this;
    host.isAlive = true;
    host.life += 1;
    if (!host.follows) host.pid += 100;
    host.ids = new IdSequence();
    const who = { host, life: host.life };
    world.note(`${host.name} starts`);
    const order = {
      host,
      settings: this.store.settingsOf(host),
      processes: this.processes,
      transports: [this.#phone(who)],
      approvalTtl: this.#approvalTtl,
      onFault: (name: string, error: unknown) => {
        if (world.lives(who) && !isOfDisk(error)) this.watch.violated('D1', `${name}: ${wordsOf(error)}`);
      },
      onRestart: () => this.stop(host, 0, true),
    };
    runAs(who, () =>
      world.add('boot', 0, () => {
        bootNode(order).then(
          (node) => (world.lives(who) ? this.#serves(host, node) : undefined),
          (error: unknown) => {
            if (!world.lives(who)) return;
            world.note(`${host.name} cannot start: ${String(error)}`);
            if (!isOfDisk(error)) this.watch.violated('D2', `${host.name} cannot start: ${wordsOf(error)}`);
            this.kill(host, AGAIN_MS);
          },
        );
      }),
    );
  }

  #serves(host: Host, node: Node): void {
    host.follows = false;
    this.nodes.set(host, node);
  }

  /** As SIGKILL, and a service manager that starts it again after a while. */
  kill(host: Host, backMs: number): void {
    if (!host.isAlive) return;
    this.kills += 1;
    this.world.note(`${host.name} is killed`);
    host.follows = false;
    this.end(host, backMs);
  }

  /** As SIGTERM: it ends in order, and is killed where that takes too long. `isInPlace`: its process continues. */
  stop(host: Host, backMs: number, isInPlace = false): void {
    const node = this.nodes.get(host);
    const who = { host, life: host.life };
    if (node !== undefined && host.isAlive) stopInOrder(this, { node, who, isInPlace, backMs });
  }

  /** Its process is gone; the service manager starts it again. */
  end(host: Host, backMs: number): void {
    this.nodes.delete(host);
    this.oracle.died({ host, life: host.life });
    this.world.drop(host);
    this.processes.daemonDied(host);
    this.world.later('restart', backMs, () => this.boot(host));
  }

  /** Steps until `done`, or until nothing can happen, something is broken, or so much time has gone by. */
  async until(done: () => boolean, limitMs: number): Promise<boolean> {
    const deadline = this.world.now + limitMs;
    while (!done()) {
      if (this.world.now > deadline || !(await this.world.step())) return done();
      if (this.watch.broken.length > 0) return true;
    }
    return true;
  }

  async close(): Promise<void> {
    for (const host of this.world.hosts) if (host.isAlive) this.world.drop(host);
    await this.store.close();
    this.world.end();
  }

  #phone(who: { readonly host: Host; readonly life: number }): Transport {
    const { world } = this;
    return {
      name: 'phone',
      key: 'phone-key',
      id: 'notify:phone#phone-key',
      label: 'a phone',
      send: async (message: object) => {
        const chance = world.chance.of(`${who.host.name}/phone`);
        await pause(world.clock(), chance.whole(1, SEND.mostMs));
        if (chance.chance(SEND.failShare)) throw new DialFailed('the phone did not answer');
        if (!world.lives(who)) return;
        world.note(`the phone shows ${JSON.stringify(message)}`);
        this.messages.push(JSON.stringify(message));
      },
    };
  }
}

/** Whether it follows from a fault of the disk. */
function isOfDisk(error: unknown): boolean {
  return (error instanceof Failure && error.code === 'unavailable') || /disk/.test(String(error));
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
