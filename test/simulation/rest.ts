/** The end of a run: the faults end, and then everything has to come to its end. */
import type { SimulatedArea } from './areas/area.ts';
import { AREAS } from './areas/areas.ts';
import type { Clients } from './clients.ts';
import type { Place } from './place.ts';
import { CORDONED } from './rules/node-watch.ts';
import type { Senders } from './senders/senders.ts';

/** From the start of a daemon until it is ready, and for a call, at most. */
export const BOOT_MS = 60_000;
/** Longer than any time-out of a job, a deadline or a pause between two tries to send. */
const REST_MS = 4_000_000;
/** In this time what follows from an end has begun. */
const QUIET_MS = 15_000;
const ROUNDS_MAX = 4;
/** From one time of the schedule to the next. */
const EVERY_MS = 60_000;
/** In this time a daemon has to see that the clock was set. */
const SEEN_MS = 60_000;

const UNFINISHED = AREAS.flatMap(({ unfinished = {} }) => Object.entries(unfinished));

export interface Actors {
  readonly clients: Clients;
  readonly senders: Senders;
}

/** The faults end; then everything has to end. */
export async function rest(place: Place, { clients, senders }: Actors, areas: readonly SimulatedArea[]): Promise<void> {
  const { world } = place;
  place.oracle.timePassed();
  for (const host of world.hosts) {
    // Rules ask until when it was.
    host.stoppedUntil = Math.min(host.stoppedUntil, world.now);
    host.machine.aheadMs = 0;
  }
  world.powerLoss = null;
  place.store.machine.disk = { fault: 'full', until: 0 };
  place.targets.allUp();
  place.remotes.allUp();
  await place.until(() => place.nodes.size === world.hosts.length, BOOT_MS);
  // A cordon that is still under way would come after its end.
  await place.until(() => !clients.isBusy && senders.waiting === 0, BOOT_MS);
  await callAtLast(place, clients, 'maintenance.uncordon', {});
  // Also the cordon that a daemon left when it was killed during its restart.
  for (const { node } of place.store.rows(CORDONED))
    await callAtLast(place, clients, 'maintenance.uncordon', { node: String(node) });
  await waitForSlot(place);
  await callAtLast(place, clients, 'schedule.disable', { name: 'tick' });
  for (const [as, operation, raw] of areas.flatMap(({ atLast = [] }) => atLast))
    await settled(place, clients.act({ do: 'call', afterMs: 0, as, operation, raw }));
  let lookedAt = -1;
  const isOver = (): boolean => {
    if (lookedAt === world.commits) return false;
    lookedAt = world.commits;
    return openThings(place) === 0;
  };
  // What follows from the last end is made some time after it, such as its notification, which may be tried twice.
  for (let rounds = 0; rounds < ROUNDS_MAX && openThings(place) > 0; rounds += 1) {
    await place.until(isOver, REST_MS);
    await place.until(() => false, QUIET_MS);
  }
}

async function callAtLast(
  place: Place,
  clients: Clients,
  operation: string,
  raw: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (let tries = 0; tries < 5; tries += 1)
    if ((await settled(place, clients.act({ do: 'call', afterMs: 0, as: 'local', operation, raw }))) !== null) return;
}

/** The clock is right again, whatever it was before: the next time of the schedule must not be left out. */
async function waitForSlot(place: Place): Promise<void> {
  const { world, store, watch } = place;
  const isNear = (): boolean => {
    const [row] = store.rows("select next_at, last_at from schedules where name = 'tick'");
    // A time that was taken while the clock was ahead counts as taken.
    const from = Math.max(world.wallOf(store), Number(row?.['last_at'] ?? 0));
    return Number(row?.['next_at'] ?? 0) <= from + EVERY_MS;
  };
  if (!(await place.until(isNear, SEEN_MS))) watch.violated('S2', 'the next time of the schedule was left out');
}

function openThings({ store }: Place): number {
  const counts = UNFINISHED.map(([table, condition]) => `(select count(*) from ${table} where ${condition})`);
  const [row] = store.rows(`select ${counts.join(' + ')} as n`);
  return Number(row?.['n'] ?? 0);
}

/** The answer of a call, in steps of the world. */
export async function settled(place: Place, answer: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  let isOver = false;
  const keep = (its: unknown): void => {
    value = its;
    isOver = true;
  };
  void answer.then(keep);
  await place.until(() => isOver, BOOT_MS);
  return isOver ? value : null;
}
