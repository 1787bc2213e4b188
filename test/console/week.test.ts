/** The week of data that pictures of the console are made of. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sql } from 'kysely';
import { HandClock } from '../support/clock.ts';
import { visit } from '../support/console/visitor.ts';
import { tellWeek } from '../support/console/week.ts';
import { startProgram } from '../support/program.ts';

it('Each page of a week has something to show', async (t) => {
  const clock = new HandClock();
  const program = await startProgram(t, { clock });
  const end = clock.now() + 7 * 86_400_000;
  const week = await tellWeek(program, clock);
  assert.equal(clock.now(), end);
  const { db } = program.store;
  for (const [table, column] of [
    ['jobs', 'created_at'],
    ['jobs', 'finished_at'],
    ['events', 'received_at'],
    ['check_targets', 'last_change'],
  ] as const) {
    const { rows } = await sql<{ at: number }>`select max(${sql.ref(column)}) as at from ${sql.table(table)}`.execute(
      db,
    );
    assert.ok((rows[0]?.at ?? end + 1) <= end, `${table}.${column}`);
  }
  const visitor = await visit(program, program.tokens.operator);
  for (const [path, words] of [
    ['/', /2 approvals need a person.*playbook:patch\.yml.*web2/s],
    [`/approvals/${week.approval}`, /to destroy|destroyed/],
    [`/jobs/${week.failed}`, /no space left on the backup disk/],
    [`/jobs/${week.playbook}/hosts`, /web08.*dpkg was interrupted/s],
    [`/events/${week.event}`, /DiskFull/],
    ['/checks/ssh', /90d <b>99\.\d\d %/],
    ['/schedules', /Europe\/Berlin.*<h2>The next 7 days/s],
    [`/runs/${week.run}`, /<svg class="graph".*smoke-test/s],
  ] as const) {
    const { status, text } = await visitor.open(path);
    assert.equal(status, 200, path);
    assert.match(text, words, path);
  }
});
