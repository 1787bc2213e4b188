/** What the sweep makes of probes that could not be made, and of targets that were never up. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SweepReport } from '../../../src/domain/checks/sweep/report.ts';
import { listNeverUp } from '../../../src/store/checks/targets.ts';
import type { CheckTargetRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { putCheck, sweepFixture } from '../../support/checks/sweep-fixture.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const INTERVAL = 10_000;
const LINE = 'Error: a probe of the check web could not be made';
/** Of 80 s. */
const LINES = `^${LINE}\\n${LINE}, and \\d+ others since the last such line$`;

async function targetIn({ db }: Store, name: string): Promise<CheckTargetRow | undefined> {
  return db.selectFrom('check_targets').selectAll().where('name', '=', name).executeTakeFirst();
}

describe('The sweep', () => {
  const fixture = freshStore(ENGINES[0]!);

  test('B4: counts a probe that could not be made as missed, logs one a minute, and reports the check', async () => {
    const { store } = fixture;
    await putCheck(store, 'web', ['a', 'new']);
    await putCheck(store, 'api', ['b']);
    const broken = new Set(['new']);
    const { sweep, pass, errors } = sweepFixture(store, {
      probe: async ({ row }) => {
        if (broken.has(row.name)) throw new TypeError('x is not a function');
        return { up: true, detail: 'ok', durationMs: 3, certificateDays: null };
      },
    });
    await pass(1_000 + INTERVAL);
    broken.add('a');
    await pass(7 * INTERVAL);
    const [target, unseen] = [await targetIn(store, 'a'), await targetIn(store, 'new')];
    assert.deepEqual([target?.status, target?.detail, target?.pending], ['up', 'ok', null]);
    assert.deepEqual([unseen?.status, unseen?.detail], ['unknown', null]);
    assert.deepEqual(await store.db.selectFrom('events').select('id').execute(), []);
    assert.ok(errors.every((error) => (error as Error).cause instanceof TypeError));
    assert.match(errors.map(String).join('\n'), new RegExp(LINES));
    await sweep.stop();
    const days = await store.db.selectFrom('check_days').select(['name', 'up', 'missed']).orderBy('name').execute();
    assert.deepEqual(
      days.map(({ name, up, missed }) => [name, up > 0, missed > 0]),
      [
        ['a', true, true],
        ['b', true, false],
        ['new', false, true],
      ],
    );
    const rows = await store.db.selectFrom('check_sweepers').select('report').execute();
    const reports = rows.map(({ report }) => JSON.parse(report ?? '') as SweepReport);
    assert.ok(reports.every(({ faults }) => faults > 0));
    assert.deepEqual(
      reports.map(({ faulty }) => faulty),
      [[{ check: 'web', reason: 'a fault of the service, see its log' }]],
    );
  });

  test('B5: a target is never up until one of its probes is, and stays one that was', async () => {
    const { store } = fixture;
    await putCheck(store, 'web', ['a', 'b']);
    await putCheck(store, 'off', ['c'], { enabled: 0 });
    const { sweep, pass, down } = sweepFixture(store);
    const never = async (): Promise<string[]> => (await listNeverUp(store.db, 10)).map(({ name }) => name);
    down.add('web/a').add('web/b');
    assert.deepEqual(await never(), []);
    await pass(2 * INTERVAL);
    assert.deepEqual(await never(), ['a', 'b']);
    down.delete('web/a');
    await pass(INTERVAL);
    down.add('web/a');
    await pass(2 * INTERVAL);
    assert.deepEqual([(await targetIn(store, 'a'))?.status, await never()], ['down', ['b']]);
    await sweep.stop();
  });
});
