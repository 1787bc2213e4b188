import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { availability, stripStart, type StoredDay } from './availability.ts';
import { addGathered, DAY_MS, dayOf, emptyDay, gather, type Gathered, SLOT_MS } from './day.ts';

const NOW = Date.UTC(2026, 10, 23, 14, 10);

/** Stored days of observations each minute from `days` ago until now. */
function history(days: number, of: (at: number) => Partial<Parameters<typeof gather>[1]>): StoredDay[] {
  const gathered: Gathered[] = [];
  for (let at = NOW - days * DAY_MS; at <= NOW; at += 60_000)
    gather(gathered, { at, reading: 'up', isSnoozed: false, durationMs: 4, ...of(at) });
  return [...Map.groupBy(gathered, ({ slot }) => dayOf(slot))].map(([day, ofDay]) => {
    const sum = (reading: 'up' | 'down' | 'missed'): number => ofDay.reduce((total, each) => total + each[reading], 0);
    const detail = day >= dayOf(Math.floor(NOW / SLOT_MS)) - 1 ? addGathered(emptyDay(), ofDay) : null;
    return { day, up: sum('up'), down: sum('down'), missed: sum('missed'), detail };
  });
}

const near = (value: number | undefined, expected: number): boolean =>
  value !== undefined && value > expected / 1.25 && value < expected * 1.25;

describe('The availability of a target', () => {
  test('is unknown without an observation', () => {
    const { strip, uptime, durations } = availability([], NOW);
    assert.deepEqual([strip.length, new Set(strip)], [48, new Set([null])]);
    assert.deepEqual([uptime, durations], [{ day: null, week: null, month: null, quarter: null, since: null }, null]);
  });

  test('has the last 24 hours by half hours, over midnight', () => {
    const { strip, uptime } = availability(
      history(3, (at) => ({ reading: at >= NOW - 75 * 60_000 && at < NOW - 45 * 60_000 ? 'down' : 'up' })),
      NOW,
    );
    assert.equal(new Date(stripStart(NOW)).toISOString(), '2026-11-22T14:30:00.000Z');
    assert.deepEqual([strip.length, strip.filter((slot) => slot === null).length], [48, 0]);
    assert.deepEqual(
      strip.slice(-4).map((slot) => [slot?.up, slot?.down]),
      [
        [25, 5],
        [5, 25],
        [30, 0],
        [11, 0],
      ],
    );
    assert.ok(Math.abs((uptime.day ?? 0) - (1 - 30 / 1_421)) < 1e-9, `${uptime.day}`);
  });

  test('counts a longer window from its first day on, and missed observations for neither side', () => {
    const { uptime } = availability(
      history(100, (at) => ({ reading: at < NOW - 20 * DAY_MS ? 'down' : at % 120_000 === 0 ? 'missed' : 'up' })),
      NOW,
    );
    assert.deepEqual([uptime.day, uptime.week], [1, 1]);
    assert.ok(Math.abs((uptime.month ?? 0) - 0.5) < 0.03, `${uptime.month}`);
    assert.ok(Math.abs((uptime.quarter ?? 0) - 0.125) < 0.02, `${uptime.quarter}`);
  });

  test('has percentiles of the durations of the last day, to a quarter of their value', () => {
    const { durations } = availability(
      history(2, (at) => {
        const minute = at / 60_000;
        return { durationMs: minute % 50 === 0 ? 2_000 : minute % 5 === 0 ? 100 : 4 };
      }),
      NOW,
    );
    assert.ok(
      near(durations?.p50, 4) && near(durations?.p90, 100) && near(durations?.p99, 2_000),
      JSON.stringify(durations),
    );
  });
});
