import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../failure.ts';
import { timetableReader } from './timetable.ts';

const read = await timetableReader();

/** The slots after a time, each as the UTC time that it comes at, to the minute. */
function slots(cron: string, timezone: string, after: string, count: number): string[] {
  const timetable = read(cron, timezone);
  const found: string[] = [];
  let at: number | null = Date.parse(after);
  while (found.length < count) {
    at = timetable.next(at);
    assert.ok(at !== null);
    found.push(new Date(at).toISOString().replace(':00.000Z', 'Z'));
  }
  return found;
}

function refusal(cron: string, timezone = 'UTC'): string {
  try {
    read(cron, timezone);
  } catch (error) {
    assert.ok(error instanceof Failure && error.code === 'invalid_argument', String(error));
    return error.message;
  }
  return assert.fail(`${cron} in ${timezone} was taken`);
}

describe('The slots of a schedule', () => {
  test('come after a time, never at it, and on whole minutes', () => {
    assert.deepEqual(slots('0 3 * * *', 'UTC', '2026-11-21T02:59:59.999Z', 2), [
      '2026-11-21T03:00Z',
      '2026-11-22T03:00Z',
    ]);
    assert.deepEqual(slots('0 3 * * *', 'UTC', '2026-11-21T03:00:00.000Z', 1), ['2026-11-22T03:00Z']);
    assert.deepEqual(slots('*/20 * * * *', 'UTC', '2026-11-21T03:00:00.001Z', 3), [
      '2026-11-21T03:20Z',
      '2026-11-21T03:40Z',
      '2026-11-21T04:00Z',
    ]);
  });

  test('are local times of their zone, in summer and in winter', () => {
    assert.deepEqual(slots('30 8 * * MON-FRI', 'Europe/Berlin', '2026-07-03T12:00:00Z', 2), [
      '2026-07-06T06:30Z',
      '2026-07-07T06:30Z',
    ]);
    assert.deepEqual(slots('30 8 * * 1-5', 'Europe/Berlin', '2026-12-04T12:00:00Z', 1), ['2026-12-07T07:30Z']);
    assert.deepEqual(slots('30 8 * * *', 'Asia/Kolkata', '2026-07-03T12:00:00Z', 1), ['2026-07-04T03:00Z']);
  });

  test('of a day of the month and a day of the week come on either', () => {
    assert.deepEqual(slots('0 0 13 * 5', 'UTC', '2026-11-07T00:00:00Z', 3), [
      '2026-11-13T00:00Z',
      '2026-11-20T00:00Z',
      '2026-11-27T00:00Z',
    ]);
  });

  test('of a star with a step in one of the fields of days come on days that are in both', () => {
    // November 2026 begins on a Sunday: its odd days that are a Monday are 9 and 23.
    assert.deepEqual(slots('0 9 */2 * 1', 'UTC', '2026-11-01T00:00:00Z', 3), [
      '2026-11-09T09:00Z',
      '2026-11-23T09:00Z',
      '2026-12-07T09:00Z',
    ]);
    // Every second day of the week is Sunday, Tuesday, Thursday and Saturday.
    assert.deepEqual(slots('0 9 1-7 * */2', 'UTC', '2026-11-01T10:00:00Z', 4), [
      '2026-11-03T09:00Z',
      '2026-11-05T09:00Z',
      '2026-11-07T09:00Z',
      '2026-12-01T09:00Z',
    ]);
    assert.deepEqual(slots('0 9 */2 * MON-FRI', 'UTC', '2026-11-01T00:00:00Z', 3), [
      '2026-11-03T09:00Z',
      '2026-11-05T09:00Z',
      '2026-11-09T09:00Z',
    ]);
    assert.deepEqual(slots('0 9 */10,2 * 1', 'UTC', '2026-11-01T00:00:00Z', 2), [
      '2026-11-02T09:00Z',
      '2026-12-21T09:00Z',
    ]);
    // A range with a step is a restriction as in all of them.
    assert.deepEqual(slots('0 9 1-31/15 * 1', 'UTC', '2026-11-01T10:00:00Z', 3), [
      '2026-11-02T09:00Z',
      '2026-11-09T09:00Z',
      '2026-11-16T09:00Z',
    ]);
  });

  test('on a leap day come every fourth year, and not in 2100', () => {
    assert.deepEqual(slots('0 12 29 2 *', 'Europe/Berlin', '2026-01-01T00:00:00Z', 2), [
      '2028-02-29T11:00Z',
      '2032-02-29T11:00Z',
    ]);
    assert.deepEqual(slots('0 12 29 2 *', 'America/New_York', '2096-03-01T00:00:00Z', 1), ['2104-02-29T17:00Z']);
  });

  test('do not depend on the time zone of the machine', (t) => {
    const before = process.env['TZ'];
    t.after(() => (before === undefined ? delete process.env['TZ'] : (process.env['TZ'] = before)));
    for (const zone of ['America/New_York', 'Pacific/Kiritimati']) {
      process.env['TZ'] = zone;
      assert.deepEqual(slots('30 2 * * *', 'UTC', '2027-03-14T00:00:00Z', 2), [
        '2027-03-14T02:30Z',
        '2027-03-15T02:30Z',
      ]);
      assert.deepEqual(slots('30 2 * * *', 'Europe/Berlin', '2027-03-14T00:00:00Z', 1), ['2027-03-14T01:30Z']);
    }
  });
});

// Berlin: on 2027-03-28 at 02:00 the clock is set to 03:00, on 2027-10-31 at 03:00 back to 02:00. New York: on
// 2027-03-14 at 02:00 to 03:00, on 2027-11-07 at 02:00 back to 01:00.
describe('F10: where the clock is set forward, a slot that it skips', () => {
  test('runs once, at the first moment after the gap', () => {
    assert.deepEqual(slots('30 2 * * *', 'Europe/Berlin', '2027-03-27T00:00:00Z', 3), [
      '2027-03-27T01:30Z',
      '2027-03-28T01:00Z',
      '2027-03-29T00:30Z',
    ]);
    assert.deepEqual(slots('30 2 * * *', 'America/New_York', '2027-03-13T00:00:00Z', 3), [
      '2027-03-13T07:30Z',
      '2027-03-14T07:00Z',
      '2027-03-15T06:30Z',
    ]);
  });

  test('runs together with all others that are skipped, and with one that comes then by itself', () => {
    assert.deepEqual(slots('*/10 2 * * *', 'Europe/Berlin', '2027-03-28T00:00:00Z', 2), [
      '2027-03-28T01:00Z',
      '2027-03-29T00:00Z',
    ]);
    assert.deepEqual(slots('0 2,3 * * *', 'America/New_York', '2027-03-14T00:00:00Z', 2), [
      '2027-03-14T07:00Z',
      '2027-03-15T06:00Z',
    ]);
    assert.deepEqual(slots('0 */2 * * *', 'Europe/Berlin', '2027-03-27T22:30:00Z', 3), [
      '2027-03-27T23:00Z',
      '2027-03-28T01:00Z',
      '2027-03-28T02:00Z',
    ]);
  });

  test('is made up for on half an hour, too', () => {
    assert.deepEqual(slots('15 2 * * *', 'Australia/Lord_Howe', '2027-10-02T00:00:00Z', 2), [
      '2027-10-02T15:30Z',
      '2027-10-03T15:15Z',
    ]);
  });
});

describe('F10: where the clock is set back, a slot that occurs twice', () => {
  test('runs the first time only', () => {
    assert.deepEqual(slots('30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00:00Z', 2), [
      '2027-10-31T00:30Z',
      '2027-11-01T01:30Z',
    ]);
    assert.deepEqual(slots('30 1 * * *', 'America/New_York', '2027-11-06T12:00:00Z', 2), [
      '2027-11-07T05:30Z',
      '2027-11-08T06:30Z',
    ]);
  });

  test('does not run again when it is queried within the repeated hour', () => {
    assert.deepEqual(slots('*/20 2 * * *', 'Europe/Berlin', '2027-10-31T01:10:00Z', 1), ['2027-11-01T01:00Z']);
    assert.deepEqual(slots('*/20 1,2 * * *', 'America/New_York', '2027-11-07T06:05:00Z', 2), [
      '2027-11-07T07:00Z',
      '2027-11-07T07:20Z',
    ]);
  });
});

describe('F10: a schedule that names every hour', () => {
  test('follows elapsed time: no hour is left out or repeated', () => {
    for (const [zone, from] of [
      ['Europe/Berlin', '2027-03-28T00:00:00Z'],
      ['Europe/Berlin', '2027-10-31T00:00:00Z'],
      ['America/New_York', '2027-11-07T05:00:00Z'],
    ] as const) {
      const whole = Array.from({ length: 5 }, (_, hour) => Date.parse(from) + (hour + 1) * 3_600_000);
      assert.deepEqual(
        slots('0 * * * *', zone, from, 5),
        whole.map((at) => new Date(at).toISOString().replace(':00.000Z', 'Z')),
        `${zone} after ${from}`,
      );
    }
    assert.deepEqual(slots('30 0-23 * * *', 'America/New_York', '2027-03-14T06:00:00Z', 2), [
      '2027-03-14T06:30Z',
      '2027-03-14T07:30Z',
    ]);
  });

  test('has every slot of a day once, over ten years of two zones', () => {
    for (const zone of ['Europe/Berlin', 'America/New_York']) {
      const timetable = read('15 * 31,14,28,7 3,10,11 *', zone);
      let at = Date.parse('2026-01-01T00:00:00Z');
      const perDay = new Map<string, number>();
      for (
        let next = timetable.next(at);
        next !== null && next < Date.parse('2036-01-01T00:00:00Z');
        next = timetable.next(at)
      ) {
        assert.ok(next > at);
        at = next;
        const day = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate().toString();
        perDay.set(day, (perDay.get(day) ?? 0) + 1);
      }
      for (const [day, count] of perDay)
        assert.equal(count, Temporal.PlainDate.from(day).toZonedDateTime(zone).hoursInDay, `${day} in ${zone}`);
    }
  });
});

test('F10: a schedule of fixed times runs once on each day, over two years of three zones', () => {
  for (const zone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe']) {
    const dayOf = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate();
    for (const cron of ['0 2 * * *', '30 2 * * *', '30 1 * * *', '59 23 * * *', '0 0 * * *']) {
      const timetable = read(cron, zone);
      let at = timetable.next(Date.parse('2026-01-01T00:00:00Z')) ?? assert.fail();
      for (let days = 0; days < 730; days += 1) {
        const next = timetable.next(at) ?? assert.fail();
        assert.ok(next > at);
        assert.equal(dayOf(next).toString(), dayOf(at).add({ days: 1 }).toString(), `${cron} in ${zone}`);
        at = next;
      }
    }
  }
});

describe('A cron line', () => {
  test('has five fields; one with seconds, a nickname and no line at all are refused', () => {
    assert.match(refusal('0 0 3 * * *'), /^cron: expected five fields .* Seconds are not supported\.$/);
    for (const text of ['', '   ', '@daily', '0 3 * *', '2026-01-01T00:00:00', '0 0 3 * * * 2027'])
      assert.match(refusal(text), /^cron: expected five fields/, text);
    assert.match(refusal(`${'0,'.repeat(200)}0 3 * * *`), /at most 200 characters/);
  });

  test('is refused with the fault if it cannot be parsed', () => {
    for (const text of [
      '60 * * * *',
      '0 24 * * *',
      '0 0 0 * *',
      '0 0 * 13 *',
      '* * * * 8',
      'x * * * *',
      '5/5 * * * *',
      '9-3 * * * *',
      '0 0 ** * *',
      '*/0 * * * *',
    ]) {
      assert.match(refusal(text), /^cron: ".*": .+\.$/, text);
    }
    assert.match(refusal('0 24 * * *'), /hour: 24/);
  });

  test('that never comes is refused', () => {
    for (const text of ['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 31W 2 *'])
      assert.match(refusal(text), /never run/, text);
  });

  test('loses what is more than one space between its fields', () => {
    assert.equal(read('  0\t3  * * * ', 'UTC').cron, '0 3 * * *');
  });
});

describe('A time zone', () => {
  test('is the name of one, in its own letters', () => {
    assert.equal(read('0 3 * * *', 'europe/berlin').timezone, 'Europe/Berlin');
    for (const zone of ['UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+3'])
      assert.equal(read('0 3 * * *', zone).timezone, zone);
  });

  test('is not an offset, an unknown place or a path', () => {
    for (const zone of [
      '',
      '+02:00',
      'Mars/Olympus',
      '../../etc/passwd',
      'Europe/Berlin\n',
      '2026-01-01T00:00[UTC]',
      'x'.repeat(10_000),
    ]) {
      assert.match(refusal('0 3 * * *', zone), /^timezone: expected the name of a time zone/, zone.slice(0, 40));
    }
  });
});
