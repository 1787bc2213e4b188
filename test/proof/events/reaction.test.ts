/**
 * The ends of jobs as events, with real daemons: rules answer them, a circle ends, and a kill neither loses nor doubles
 * one.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CHAIN_MAX } from '../../../src/domain/events/event.ts';
import { until } from '../../support/api-client.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';

const AGAIN = `when: event.source == "job-outcome" && event.labels.kind == "command"
action:
  command: ["true"]
  inventory: localhost
`;

/** What a killed daemon leaves is found soon, where a lease tells that it is dead. */
const LEASE = { args: ['--lease', '3s'] };

/** Outcome events in the order of their jobs. */
function recorded(fixture: Fixture): Promise<{ job_id: string; outcome: string; reason: string }[]> {
  return fixture.store.db
    .selectFrom('jobs')
    .innerJoin('events', (join) => join.onRef('events.id', '=', 'jobs.outcome_event_id'))
    .select(['jobs.id as job_id', 'events.outcome', 'events.reason'])
    .orderBy('events.depth')
    .execute();
}

async function counts(fixture: Fixture): Promise<{ jobs: number; events: number; unrecorded: number }> {
  const jobs = await fixture.store.db.selectFrom('jobs').select(['id', 'outcome_event_id']).execute();
  const events = await fixture.store.db.selectFrom('events').select('id').where('source', '=', 'job-outcome').execute();
  return {
    jobs: jobs.length,
    events: events.length,
    unrecorded: jobs.filter((job) => job.outcome_event_id === null).length,
  };
}

for (const postgres of [false, true]) {
  describe(`On ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    test(`T52: rules that answer a job with a job stop after ${CHAIN_MAX} more of them, and say loop`, async (t) => {
      const fixture = await openFixture(t, { postgres });
      await fixture.call('rule.add', { name: 'again', text: AGAIN });
      const daemon = await fixture.start();
      const api = daemon.api(fixture.token);
      await api.waitFor(await api.run(['/bin/true']));
      const all = await until('the chain has ended', async () => {
        const ends = await recorded(fixture);
        return ends.length === 1 + CHAIN_MAX ? ends : undefined;
      });
      assert.deepEqual(
        all.map(({ outcome }) => outcome),
        ['fired', 'fired', 'fired', 'suppressed'],
      );
      assert.equal(all.at(-1)?.reason, 'loop');
      assert.deepEqual(await counts(fixture), { jobs: 1 + CHAIN_MAX, events: 1 + CHAIN_MAX, unrecorded: 0 });
      assert.equal(await daemon.stop(), 0);
    });

    test('over kills in the middle of 80 ends, each is recorded once', async (t) => {
      const fixture = await openFixture(t, { postgres });
      for (let n = 0; n < 80; n += 1) await fixture.queue({ command: ['/bin/true'], privileged: true });
      for (const share of [15, 45]) {
        const daemon = await fixture.start(LEASE);
        await until(`${share} are recorded`, async () => ((await counts(fixture)).events >= share ? true : undefined));
        await daemon.kill();
      }
      const last = await fixture.start(LEASE);
      await until('no end is left to record', async () => {
        const open = await fixture.store.db
          .selectFrom('jobs')
          .select('id')
          .where('state', 'in', ['queued', 'running'])
          .execute();
        return open.length === 0 && (await counts(fixture)).unrecorded === 0 ? true : undefined;
      });
      const { jobs, events } = await counts(fixture);
      assert.deepEqual([jobs, events], [80, 80]);
      const ids = await fixture.store.db.selectFrom('events').select('labels').execute();
      assert.equal(new Set(ids.map(({ labels }) => (JSON.parse(labels) as { job_id: string }).job_id)).size, 80);
      assert.equal(await last.stop(), 0);
    });
  });
}
