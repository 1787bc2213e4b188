/** The sweep of a real daemon, in a separate network, whose clock jumps and which is stopped for a while. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { ClockFindings } from '../../support/checks/clock-story.ts';
import { tellStory } from '../../support/network/tell-story.ts';
import { needs } from '../../support/tools.ts';

const STORY = join(import.meta.dirname, '..', '..', 'support', 'checks', 'clock-story.ts');

describe('In a separate network, a sweep', { skip: needs('network namespaces', 'faketime') }, () => {
  let found: ClockFindings;
  before(async () => {
    found = (await tellStory(STORY)) as ClockFindings;
  });

  test('F10: keeps its intervals while the wall clock jumps hours and years', () => {
    const { ms, arrivals } = found.jumping;
    assert.equal(arrivals.length, found.targets);
    // On a busy machine a probe that is late may skip to its next slot; none comes twice in an interval.
    const due = ms / found.intervalMs;
    for (const times of arrivals) {
      assert.ok(times.length >= due / 3 && times.length <= due + 2, `${times.length} probes in ${ms} ms`);
      for (const [index, at] of times.slice(2).entries())
        assert.ok(at - (times[index] ?? 0) > found.intervalMs, `three probes within ${at - (times[index] ?? 0)} ms`);
    }
  });

  test('F35: makes up for nothing after it was stopped: each target has its next probe, at its time', () => {
    assert.ok(found.woken.length > found.targets / 2, `${found.woken.length} targets were probed`);
    for (const times of found.woken) assert.ok(times.length <= 3, `${times.length} probes`);
    const first = Math.min(...found.woken.flat());
    const atOnce = found.woken.flat().filter((at) => at - first < found.intervalMs / 10).length;
    assert.ok(atOnce <= 0.75 * found.targets, `${atOnce} probes at once`);
  });

  test('F10, F35: turns neither a jump nor a stop into a transition, and misses none amid the jumps', () => {
    assert.deepEqual([found.events, found.down], [['firing', 'resolved'], 0]);
  });
});
