/**
 * Run in separate namespaces of network and mounts: a daemon that probes addresses of this network while its wall clock
 * jumps, and then is stopped for a while, as by a sleep of the machine. Writes what it did as JSON.
 */
import { until } from '../api-client.ts';
import { movedClock } from '../fake-time.ts';
import { addCheck, close, countUp, eventsOf, inOwnNetwork, listening } from './own-network.ts';

const PORT = 7_000;
const ONE_PORT = 7_001;
const HOUR = 3_600;

const TARGETS = 40;
const INTERVAL_MS = 1_500;
/** Two hours ahead and back, ten years, and right again; and how long each lasts. */
const JUMPS: readonly number[] = [2 * HOUR, -2 * HOUR, 10 * 365 * 24 * HOUR, 0];
const JUMP_MS = 2_500;
/** Four intervals, which are not made up for. */
const STOP_MS = 4 * INTERVAL_MS;

/** Probes that arrived, by target, in milliseconds of a clock that does not jump. */
type Arrivals = readonly (readonly number[])[];

export interface ClockFindings {
  readonly targets: number;
  readonly intervalMs: number;
  /** Over all jumps. */
  readonly jumping: { readonly ms: number; readonly arrivals: Arrivals };
  /** In the first interval and a half after a stop. */
  readonly woken: Arrivals;
  /** Status of each event: one target went down while the clock jumped, and came back. */
  readonly events: readonly string[];
  readonly down: number;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function main(): Promise<ClockFindings> {
  return inOwnNetwork(async (fixture) => {
    const clock = movedClock(fixture.dir);
    let arrived = new Map<string, number[]>();
    const take = (): number[][] => {
      const taken = arrived;
      arrived = new Map();
      return [...taken.values()];
    };
    const server = await listening(PORT, ({ localAddress = '' }) => {
      arrived.set(localAddress, [...(arrived.get(localAddress) ?? []), performance.now()]);
    });
    let one = await listening(ONE_PORT);
    const daemon = await fixture.start({ env: clock.env });
    await addCheck(fixture, 'many', TARGETS, INTERVAL_MS, (position) => `10.77.0.${position + 1}:${PORT}`);
    await addCheck(fixture, 'one', 1, INTERVAL_MS, () => `10.77.1.1:${ONE_PORT}`);
    const seeded = async (): Promise<true | undefined> =>
      (await countUp(fixture, 'many', 'up')) + (await countUp(fixture, 'one', 'up')) === TARGETS + 1 ? true : undefined;
    await until('all targets are up', seeded, 60_000);

    await close(one);
    take();
    const began = performance.now();
    for (const seconds of JUMPS) {
      clock.set(seconds);
      await sleep(JUMP_MS);
    }
    const jumping = { ms: performance.now() - began, arrivals: take() };
    const count = async (events: number): Promise<true | undefined> =>
      (await eventsOf(fixture, 'one')).length >= events ? true : undefined;
    await until('the outage has its event', () => count(1), 60_000);
    one = await listening(ONE_PORT);
    await until('its end has one', () => count(2), 60_000);

    daemon.freeze();
    await sleep(STOP_MS);
    take();
    daemon.thaw();
    await sleep(1.5 * INTERVAL_MS);
    const woken = take();
    const events = [...(await eventsOf(fixture, 'one')), ...(await eventsOf(fixture, 'many'))];
    const down = await countUp(fixture, 'many', 'down');
    await daemon.stop();
    await Promise.all([close(server), close(one)]);
    const each = { targets: TARGETS, intervalMs: INTERVAL_MS };
    return { ...each, jumping, woken, events: events.map(({ status }) => String(status)), down };
  });
}

process.stdout.write(JSON.stringify(await main()));
