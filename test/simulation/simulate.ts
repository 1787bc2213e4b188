/** One run of a plan: a scene is set, actions and faults come, the faults end, and then everything has to end. */
import { verifyLedger } from '../../src/store/audit/verify.ts';
import type { SimulatedArea } from './areas/area.ts';
import { areasOf } from './areas/areas.ts';
import { BackupWatch } from './backups/backup-watch.ts';
import { lookAtRestores } from './backups/restores.ts';
import { CheckWatch } from './network/check-watch.ts';
import { Clients } from './clients.ts';
import { decideLate } from './late-decision.ts';
import { Place } from './place.ts';
import { losePower } from './power-cut.ts';
import { type Actors, BOOT_MS, rest, settled } from './rest.ts';
import type { Action, Plan } from './plan/plan.ts';
import { quiet } from './oracle/quiet.ts';
import { summaryOf } from './oracle/summary.ts';
import { lookAtRest } from './rules/at-rest.ts';
import { lookAtStates } from './rules/states.ts';
import type { Violation } from './rules/rules.ts';
import { NodeWatch } from './rules/node-watch.ts';
import { SourceWatch } from './rules/source-watch.ts';
import { SiteWatch } from './rules/site-watch.ts';
import type { Stores } from './stores/store.ts';
import { Committers } from './people/committers.ts';
import { LinkHolders } from './people/link-holders.ts';
import { LinkWatch } from './people/link-watch.ts';
import { Visitors } from './people/visitors.ts';
import { AlertWatch } from './senders/alert-watch.ts';
import { Holders } from './senders/holders.ts';
import { Senders } from './senders/senders.ts';
import { World } from './world/world.ts';

export interface Verdict {
  readonly seed: number;
  /** Of all steps, answers and rows: two runs of a seed have the same. */
  readonly hash: string;
  readonly broken: readonly Violation[];
  readonly trace: readonly string[];
  readonly steps: number;
  readonly commits: number;
  readonly kills: number;
  readonly jobs: number;
  readonly virtualMs: number;
  readonly cpuMs: number;
  readonly answers: ReadonlyMap<string, number>;
  /** What it came to, without ids and times. */
  readonly summary: readonly string[];
}

/** Faults that come by chance, while actions are done. */
const RATES = { step: 1 / 2_000, commit: 1 / 60 };
const ACT_MS = 600_000;

export async function simulate(
  plan: Plan,
  stores: Stores,
  { keepsTrace = false, hidesJob = false }: { keepsTrace?: boolean; hidesJob?: boolean } = {},
): Promise<Verdict> {
  const began = process.cpuUsage();
  const world = new World(plan.seed);
  world.keepsTrace = keepsTrace;
  const place = new Place(world, await stores.open(world));
  const clients = new Clients(place, hidesJob);
  const senders = new Senders(place);
  const backups = new BackupWatch(place, plan.parts.includes('backups'));
  const links = new LinkWatch(place, plan.parts.includes('links'));
  const sources = new SourceWatch(place.store.rows, place.watch, plan.parts.includes('sources'));
  place.onFiles = (process, commit) => sources.ran(process, commit);
  const watches: { committed(): void }[] = [links, sources];
  watches.push(backups);
  watchCommits(place, watches);
  try {
    for (let n = 0; n < plan.daemons; n += 1) place.addDaemon();
    await place.until(() => place.nodes.size === plan.daemons, BOOT_MS);
    const areas = areasOf(plan.parts);
    place.oracle.isAsleep = areas.some(({ isUnmodelled = false }) => isUnmodelled);
    await setScene(place, { clients, senders }, areas);
    const holders = new Holders(place);
    const visitors = new Visitors(place, clients, holders);
    const cast = {
      place,
      clients,
      senders,
      holders,
      visitors,
      links: new LinkHolders(place, clients, links),
      committers: new Committers(place, clients, sources),
    };
    if (plan.chanceKills) Object.assign(world.rates, RATES);
    await actAll(place, plan.actions, (action) => perform(cast, action));
    Object.assign(world.rates, { step: 0, commit: 0 });
    await rest(place, { clients, senders }, areas);
    if (place.watch.broken.length === 0) await judge(place, senders);
    backups.lookAtRest();
    sources.lookAtRest(place.remotes);
    place.store.noteRows();
    if (place.watch.broken.length === 0) await lookAtRestores(place, backups.kept);
    const { user, system } = process.cpuUsage(began);
    return {
      seed: plan.seed,
      hash: world.digest(),
      broken: place.watch.broken,
      trace: world.trace,
      steps: world.steps,
      commits: world.commits,
      kills: place.kills,
      jobs: place.watch.states.size,
      virtualMs: world.now,
      cpuMs: (user + system) / 1_000,
      answers: clients.answers,
      summary: summaryOf(place.oracle.model),
    };
  } finally {
    await place.close();
  }
}

/** Who looks at each commit, in this order. */
function watchCommits(place: Place, more: readonly { committed(): void }[]): void {
  const { world, store, watch } = place;
  const alerts = new AlertWatch(place);
  const others = [new CheckWatch(place), new SiteWatch(store.rows, watch), new NodeWatch(store.rows, watch), ...more];
  const { onCommit } = world;
  world.onCommit = (by) => {
    onCommit(by);
    alerts.committed(by);
    for (const each of others) each.committed();
  };
}

async function setScene(place: Place, { clients, senders }: Actors, areas: readonly SimulatedArea[]): Promise<void> {
  place.makeFiles(areas.flatMap(({ files = {} }) => Object.entries(files)));
  for (const [as, operation, raw] of areas.flatMap(({ scene = [] }) => scene)) {
    const data = await settled(place, clients.act({ do: 'call', afterMs: 0, as, operation, raw }));
    if (data !== null) senders.learn(operation, data);
    else place.watch.violated('D3', `the scene cannot be set: ${operation}: ${[...clients.answers.keys()].join(', ')}`);
  }
}

async function actAll(place: Place, actions: readonly Action[], perform: (action: Action) => void): Promise<void> {
  const { world } = place;
  let next = 0;
  const act = (): void => {
    const action = actions[next];
    if (action === undefined) return;
    next += 1;
    perform(action);
    world.later('action', actions[next]?.afterMs ?? 0, act);
  };
  world.later('action', actions[0]?.afterMs ?? 0, act);
  await place.until(() => next >= actions.length, ACT_MS);
}

type Call = Extract<Action, { do: 'call' }>;

interface Cast extends Actors {
  readonly place: Place;
  readonly holders: Holders;
  readonly visitors: Visitors;
  readonly links: LinkHolders;
  readonly committers: Committers;
}

/** What people do; the rest are faults. */
const OF_PEOPLE: readonly Action['do'][] = ['call', 'repeat', 'deliver', 'enter', 'link', 'browse', 'decide-late'];

async function callAndLearn({ clients, holders, visitors, links }: Cast, call: Call): Promise<void> {
  const data = await clients.act(call);
  for (const each of [holders, visitors, links]) each.learn(call.operation, data);
}

function perform(cast: Cast, action: Action): void {
  const { place, clients, senders, holders, visitors, links, committers } = cast;
  const { world } = place;
  const hostOf = (at: number) => world.hosts[Math.floor(at * world.hosts.length)];
  if (!OF_PEOPLE.includes(action.do)) world.note(`fault ${JSON.stringify(action)}`);
  switch (action.do) {
    case 'call':
      return void callAndLearn(cast, action);
    case 'link':
      return links.use(action);
    case 'browse':
      return visitors.browse(action);
    case 'enter':
      return holders.enter(action);
    case 'repeat':
      return clients.repeat();
    case 'deliver':
      return senders.deliver(action);
    case 'decide-late':
      return decideLate(place, clients, action);
    case 'git':
      return committers.act(action);
    case 'target':
      return place.targets.set(action.target, action.state, action.forMs);
    case 'kill': {
      const host = hostOf(action.host);
      return host === undefined ? undefined : place.kill(host, action.backMs);
    }
    case 'power':
      return losePower(place, action);
    case 'stop': {
      const host = hostOf(action.host);
      if (host !== undefined) host.stoppedUntil = world.now + action.forMs;
      return;
    }
    case 'install': {
      const host = hostOf(action.host);
      if (host === undefined) return;
      host.machine.program += 1;
      const raw = { node: host.name, force: action.force };
      return void clients.act({ do: 'call', afterMs: 0, as: 'operator', operation: 'maintenance.restart', raw });
    }
    case 'terminate': {
      const host = hostOf(action.host);
      return host === undefined ? undefined : place.stop(host, action.backMs);
    }
    case 'disk':
      place.store.machine.disk = { fault: action.fault, until: world.now + action.forMs };
      return;
    case 'jump':
      place.oracle.timePassed();
      world.chance.of('jump').pick(world.hosts).machine.aheadMs += action.byMs;
      place.oracle.timePassed();
  }
}

async function judge(place: Place, senders: Senders): Promise<void> {
  place.watch.committed();
  senders.lookAtRest();
  for (const each of place.processes.all)
    if (each.isAlive) place.watch.violated('J8', `a tool of ${each.jobId} is left`);
  lookAtRest(place.store.rows, place.watch, place.messages);
  for (const what of quiet(place.oracle, place.store.rows, place.messages)) place.watch.violated('K7', what);
  const [node] = place.nodes.values();
  if (node === undefined) return;
  lookAtStates(place.store.rows, place.watch, place.infrastructure.left(), await node.base.seal.keyring());
  const reader = await place.store.reader(node);
  const { faults } = await verifyLedger(reader.db, await node.base.seal.keyring());
  await reader.close();
  for (const fault of faults) place.watch.violated('L2', fault);
}
