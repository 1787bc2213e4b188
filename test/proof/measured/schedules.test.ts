/** What the search for the next time of a schedule costs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { timetableReader } from '../../../src/domain/schedules/timetable.ts';
import { threadCpuMs } from '../../support/measure/loop-spans.ts';

const read = await timetableReader();

describe('A cron line', () => {
  test('that never comes is refused, in less than a moment', () => {
    for (const text of ['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 31W 2 *']) {
      const began = threadCpuMs();
      assert.throws(() => read(text, 'UTC'), /never run/, text);
      assert.ok(threadCpuMs() - began < 2_000, text);
    }
  });
});
