import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeOf, slotsOf } from '../../domain/checks/sweep/slots.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import { HandClock } from '../../../test/support/clock.ts';
import { ProbeSchedule, type Scheduled } from './probe-schedule.ts';

const STEP_MS = 20;

interface Target extends Scheduled {
  readonly name: string;
}

function targetOf(name: string, intervalMs: number): Target {
  const slots = slotsOf(intervalMs, placeOf('c', name));
  return { name, slots, plannedFor: null, dueAt: 0, startedAt: -Infinity, isRunning: false, isPlanned: false };
}

function targetsOf(count: number, intervalMs: number): Target[] {
  return Array.from({ length: count }, (_, index) => targetOf(`t${index}`, intervalMs));
}

interface World {
  readonly clock: HandClock;
  /** Begun probes: name and wall time. */
  readonly begun: { readonly name: string; readonly at: number; readonly lateMs: number }[];
  readonly schedule: ProbeSchedule<Target>;
  readonly most: () => number;
  /** Lets time pass in small steps, as a running process sees it. */
  readonly pass: (ms: number) => Promise<void>;
}

function world(probeMs = 0, maxRunning = 4_096, clock = new HandClock()): World {
  const begun: World['begun'] = [];
  let [now, most] = [0, 0];
  const under = new Set<string>();
  const schedule = new ProbeSchedule<Target>({
    clock,
    ahead: () => clock.now() - clock.monotonic(),
    maxRunning,
    run: async ({ name }, lateMs) => {
      assert.ok(!under.has(name), `${name} runs twice at a time`);
      under.add(name);
      begun.push({ name, at: clock.now(), lateMs });
      most = Math.max(most, (now += 1));
      if (probeMs > 0) await new Promise<void>((resolve) => clock.after(probeMs, resolve));
      now -= 1;
      under.delete(name);
    },
  });
  const pass = async (ms: number): Promise<void> => {
    for (let gone = 0; gone < ms; gone += STEP_MS) {
      clock.advance(STEP_MS);
      await nextTurn();
    }
  };
  return { clock, begun, schedule, most: () => most, pass };
}

function countBy<T>(items: readonly T[], key: (item: T) => string | number): number[] {
  return [...Map.groupBy(items, key).values()].map((group) => group.length);
}

/** The interval of a target in which a probe began: the names of both. */
function windowsOf(begun: World['begun'], targets: readonly Target[]): string[] {
  const slots = new Map(targets.map((target) => [target.name, target.slots]));
  return begun.map(({ name, at }) => {
    const { intervalMs, phaseMs } = slots.get(name)!;
    return `${name} ${Math.floor((at - phaseMs) / intervalMs)}`;
  });
}

describe('The schedule of probes', () => {
  test('probes each of 10,000 targets once in each interval, evenly, from the start on', async () => {
    const { begun, schedule, pass } = world();
    const targets = targetsOf(10_000, 30_000);
    schedule.plan(targets, () => false);
    await pass(60_000);
    assert.deepEqual(new Set(countBy(begun, ({ name }) => name)), new Set([2]));
    assert.equal(new Set(windowsOf(begun, targets)).size, 20_000);
    const perSecond = countBy(begun, ({ at }) => Math.floor(at / 1_000));
    assert.ok(Math.max(...perSecond) < 450 && Math.min(...perSecond.slice(1, -1)) > 230, perSecond.join(' '));
    assert.ok(Math.max(...begun.map(({ lateMs }) => lateMs)) <= 2 * STEP_MS);
    schedule.stop();
  });

  test('probes all targets within one interval of a restart, and none twice in one interval', async () => {
    const first = world();
    const targets = targetsOf(2_000, 20_000);
    first.schedule.plan(targets, () => false);
    await first.pass(33_000);
    first.schedule.stop();
    // The next process has its own monotonic clock.
    const clock = new HandClock(first.clock.wallMs + 2_000);
    clock.monotonicMs = 77;
    const next = world(0, 4_096, clock);
    next.schedule.plan(targetsOf(2_000, 20_000), () => false);
    await next.pass(20_000);
    assert.equal(new Set(next.begun.map(({ name }) => name)).size, 2_000);
    const windows = windowsOf([...first.begun, ...next.begun], targets);
    assert.equal(new Set(windows).size, windows.length);
    next.schedule.stop();
  });

  test('F35: makes up for nothing after the process was stopped or the machine slept', async () => {
    const { begun, schedule, pass, clock } = world(5);
    const targets = targetsOf(3_000, 30_000);
    schedule.plan(targets, () => false);
    await pass(30_000);
    begun.length = 0;
    clock.advance(8 * 3_600_000);
    const wokeAt = clock.now();
    await pass(30_000);
    assert.deepEqual([begun.length, new Set(begun.map(({ name }) => name)).size], [3_000, 3_000]);
    const perSecond = countBy(begun, ({ at }) => Math.floor((at - wokeAt) / 1_000));
    assert.ok(Math.max(...perSecond) < 170, perSecond.join(' '));
    schedule.stop();
  });

  test('F10: a wall clock that jumps changes no time of a probe', async () => {
    const clock = new HandClock();
    const offset = clock.now() - clock.monotonic();
    const begun: number[] = [];
    const schedule = new ProbeSchedule<Target>({
      clock,
      ahead: () => offset,
      maxRunning: 10,
      run: async () => void begun.push(clock.monotonic()),
    });
    schedule.plan([targetOf('a', 5_000)], () => false);
    for (let step = 0; step < 6_000; step += 1) {
      if (step === 2_000) clock.wallMs += 7_200_000;
      if (step === 4_000) clock.wallMs -= 14_400_000;
      clock.advance(10);
      await Promise.resolve();
    }
    assert.equal(begun.length, 12);
    for (const [index, at] of begun.slice(1).entries()) assert.ok(Math.abs(at - begun[index]! - 5_000) <= 20);
    schedule.stop();
  });

  test('F35: runs a target once at a time where its probe takes longer than its interval', async () => {
    const { begun, schedule, pass } = world(12_500);
    schedule.plan(targetsOf(100, 5_000), () => false);
    await pass(60_000);
    // Each probe takes two and a half intervals, so that the third slot is the next one.
    for (const count of countBy(begun, ({ name }) => name)) assert.ok(count === 4 || count === 5, `${count} probes`);
    schedule.stop();
  });

  test('F35: where a sweep takes longer than the interval, all targets have their turn, with a bound', async () => {
    const { begun, schedule, pass, most } = world(10_000, 200);
    schedule.plan(targetsOf(1_000, 10_000), () => false);
    await pass(200_000);
    assert.equal(most(), 200);
    const counts = countBy(begun, ({ name }) => name);
    assert.equal(counts.length, 1_000);
    assert.ok(Math.min(...counts) >= 2 && Math.max(...counts) <= 6, `${Math.min(...counts)} to ${Math.max(...counts)}`);
    assert.ok(Math.max(...begun.map(({ lateMs }) => lateMs)) > 10_000);
    schedule.stop();
  });

  test('begins with new targets soon, and then keeps to their slots', async () => {
    const { begun, schedule, pass } = world();
    const targets = targetsOf(500, 3_600_000);
    schedule.plan(targets, () => true);
    await pass(6_000);
    assert.equal(begun.length, 500);
    await pass(120_000);
    assert.ok(begun.length < 530, `${begun.length}`);
    schedule.stop();
  });

  test('a new plan leaves the times of the others, and ends the probes of the removed', async () => {
    const { begun, schedule, pass } = world(400);
    const targets = targetsOf(1_000, 10_000);
    schedule.plan(targets, () => false);
    for (let round = 0; round < 30; round += 1) {
      await pass(1_000);
      schedule.plan(targets.slice(0, round < 15 ? 1_000 : 500), () => false);
    }
    const windows = windowsOf(begun, targets);
    assert.equal(new Set(windows).size, windows.length);
    const late = begun.slice(begun.findIndex(({ at }) => at > begun[0]!.at + 17_000));
    assert.ok(late.every(({ name }) => Number(name.slice(1)) < 500));
    assert.ok(begun.filter(({ name }) => name === 't3').length >= 3);
    schedule.stop();
  });

  test('a target that moves to another daemon is not probed twice in one interval', async () => {
    const shared = new HandClock();
    const [one, two] = [world(30, 4_096, shared), world(30, 4_096, shared)];
    const [targets, others] = [targetsOf(600, 10_000), targetsOf(600, 10_000)];
    for (let round = 0; round < 12; round += 1) {
      const [from, to] = round % 2 === 0 ? [one, two] : [two, one];
      to.schedule.plan([], () => false);
      from.schedule.plan(round % 2 === 0 ? targets : others, () => false);
      await from.pass(4_380);
    }
    const windows = windowsOf([...one.begun, ...two.begun], targets);
    assert.equal(new Set(windows).size, windows.length);
    assert.ok(windows.length > 2_900, `${windows.length}`);
    for (const { schedule } of [one, two]) schedule.stop();
  });

  test('T88: begins thousands that are due at once in small parts, between which others have their turn', async () => {
    const { clock, begun, schedule } = world();
    schedule.plan(targetsOf(4_000, 1_000), () => false);
    clock.advance(1_500);
    const parts = [begun.length];
    while (begun.length < 4_000) {
      const before = begun.length;
      await nextTurn();
      parts.push(begun.length - before);
    }
    assert.ok(Math.max(...parts) <= 16, parts.join(' '));
    assert.equal(new Set(begun.map(({ name }) => name)).size, 4_000);
    schedule.stop();
  });
});
