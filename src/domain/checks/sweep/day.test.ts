import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addGathered, dayOf, decodeDay, emptyDay, encodeDay, gather, type Gathered, SLOT_MS } from './day.ts';

const DAY = 20_000;
const BEGIN = DAY * 86_400_000;

/** A day of observations, one each `everyMs`, as a daemon gathers them. */
function observed(everyMs: number, of: (index: number) => Partial<Parameters<typeof gather>[1]>): Gathered[] {
  const gathered: Gathered[] = [];
  for (let index = 0; index * everyMs < 86_400_000; index += 1)
    gather(gathered, { at: BEGIN + index * everyMs, reading: 'up', isSnoozed: false, durationMs: 4, ...of(index) });
  return gathered;
}

describe('A day of a target', () => {
  test('is read back as it was written', () => {
    let seed = 5;
    const random = (below: number): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) % below;
    for (let round = 0; round < 20; round += 1) {
      const gathered = observed(60_000 * (1 + random(30)), () => ({
        reading: (['up', 'down', 'missed'] as const)[random(3)] ?? 'up',
        isSnoozed: random(2) === 0,
        durationMs: random(12_000),
      }));
      const day = addGathered(emptyDay(), gathered);
      assert.deepEqual(decodeDay(encodeDay(day)), day);
    }
    assert.deepEqual(decodeDay(encodeDay(emptyDay())), emptyDay());
  });

  test('has at most 4 KB, with an observation each second and durations of every size', () => {
    const usual = encodeDay(
      addGathered(
        emptyDay(),
        observed(30_000, (index) => ({ durationMs: 3 + (index % 5) })),
      ),
    );
    assert.ok(usual.length < 600, `${usual.length} bytes`);
    const worst = observed(1_000, (index) => ({
      reading: (['up', 'up', 'up', 'down', 'missed'] as const)[index % 5] ?? 'up',
      isSnoozed: index % 2 === 0,
      durationMs: 0.1 * 1.1 ** (index % 125),
    }));
    const { length } = encodeDay(addGathered(emptyDay(), worst));
    assert.ok(length > 1_000 && length < 4_000, `${length} bytes`);
  });

  test('counts each half hour', () => {
    const gathered = observed(60_000, (index) => ({
      reading: index < 45 ? 'up' : index < 60 ? 'down' : 'missed',
      isSnoozed: index >= 55,
      durationMs: 10,
    }));
    assert.deepEqual([gathered.length, new Set(gathered.map(({ slot }) => dayOf(slot)))], [48, new Set([DAY])]);
    const { slots, durations } = addGathered(addGathered(emptyDay(), gathered.slice(0, 1)), gathered.slice(1));
    assert.deepEqual(slots[0], { up: 30, down: 0, missed: 0, snoozed: 0, sumMs: 300 });
    assert.deepEqual(slots[1], { up: 15, down: 15, missed: 0, snoozed: 5, sumMs: 150 });
    assert.deepEqual(slots[47], { up: 0, down: 0, missed: 30, snoozed: 30, sumMs: 0 });
    assert.deepEqual(
      durations.map((counts) => counts.reduce((sum, count) => sum + count)),
      [45, ...Array(11).fill(0)],
    );
    assert.equal(gathered[1]!.slot * SLOT_MS, BEGIN + SLOT_MS);
  });

  test('cannot be read from other bytes', () => {
    const bytes = encodeDay(
      addGathered(
        emptyDay(),
        observed(30_000, () => ({})),
      ),
    );
    for (const other of [
      new Uint8Array(),
      Uint8Array.of(2),
      Uint8Array.of(1),
      bytes.subarray(0, -1),
      Uint8Array.of(...bytes, 1),
      Uint8Array.of(1, 0, 255, 255, 255, 255, 127),
    ])
      assert.throws(() => decodeDay(other), /cannot be read/);
  });
});
