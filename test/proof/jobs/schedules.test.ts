/** A schedule with real daemons: at its time, over kills, and over a wall clock that jumps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../support/api-client.ts';
import { movedClock } from '../../support/fake-time.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

const HOUR = 3_600_000;
const DONE = ['succeeded', 'failed', 'interrupted', 'cancelled'];

async function nextAt(fixture: Fixture): Promise<number> {
  const { next_at: at } = await fixture.store.db.selectFrom('schedules').select('next_at').executeTakeFirstOrThrow();
  return at ?? assert.fail('the schedule has no next slot');
}

async function jobIds(fixture: Fixture): Promise<string[]> {
  const rows = await fixture.store.db
    .selectFrom('jobs')
    .select('id')
    .where('trigger', '=', 'schedule')
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

test(
  'F10: over two kills, two hours ahead and two back, each hour that came runs once and at its time',
  { skip: needs('faketime') },
  async (t) => {
    const fixture = await openFixture(t);
    const clock = movedClock(fixture.dir);
    await fixture.call('schedule.add', {
      name: 'hourly',
      cron: '0 * * * *',
      command: ['/bin/true'],
      inventory: 'localhost',
    });
    const slot = await nextAt(fixture);
    const setTo = (ms: number): void => clock.set(Math.round((ms - Date.now()) / 1000));
    const start = () => fixture.start({ env: clock.env });
    const seenNext = (what: string, at: number) =>
      until(what, async () => ((await nextAt(fixture)) === at ? true : undefined));

    setTo(slot - HOUR / 2);
    const first = await start();
    setTo(slot - 3_000);
    await seenNext('the slot is taken', slot + HOUR);
    await first.kill();
    const [taken = assert.fail('no job'), ...others] = await jobIds(fixture);
    assert.deepEqual(others, []);
    const lateMs = (await fixture.row(taken)).created_at - slot;
    t.diagnostic(`${lateMs} ms after the slot`);
    // The next look at the clock comes within a second; a busy machine, where a start takes seconds, is later.
    assert.ok(lateMs >= 0 && lateMs < 1_500 + first.startMs, `${lateMs} ms after the slot`);

    // Two hours later: of the two slots that passed while it was dead, one run.
    setTo(slot + 2 * HOUR + 60_000);
    const second = await start();
    await seenNext('what passed is made up for', slot + 3 * HOUR);
    await second.kill();
    assert.equal((await jobIds(fixture)).length, 2);

    const third = await start();
    const api = third.api(fixture.token);
    await api.waitFor(await api.run(['/bin/true']));
    assert.equal(await nextAt(fixture), slot + 3 * HOUR);

    // Back: the hour that passed unseen is to come again, and what ran does not.
    setTo(slot + 60_000);
    await seenNext('the daemon sees that the clock was set back', slot + 2 * HOUR);
    const ids = await jobIds(fixture);
    assert.equal(ids.length, 2);
    for (const id of ids) assert.ok(DONE.includes((await api.waitFor(id, DONE)).state));
    assert.equal(await third.stop(), 0);
  },
);
