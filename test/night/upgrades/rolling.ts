/** Daemons of an older build and of this one on one PostgreSQL at once, as docs/how-to/upgrade.md describes it. */
import assert from 'node:assert/strict';
import type { Ending } from '../../support/fixtures/installation.ts';
import { createTokens, openPlace, type Session, sessionOf, THIS_BUILD } from './place.ts';
import type { Report } from './report.ts';
import { assertHealthy, assertRanOnce, type Scene } from './upgrade.ts';

/** Enough that both daemons claim some of them while the schema changes, and few enough for a busy machine. */
const JOBS_EACH = 12;

export async function runRolling(
  ending: Ending,
  report: Report,
  { row, old }: Pick<Scene, 'row' | 'old'>,
): Promise<void> {
  const place = await openPlace(ending, true);
  await report.check(`${row.name} postgres rolling: both builds answer, and jobs run once`, async () => {
    const first = await place.spawn(old).ready;
    const tokens = await createTokens(place, old);
    const before = sessionOf(place, old, first, tokens);
    const jobs: string[] = [];
    await queue(before, jobs);
    // Without a wait for these jobs: some of them run while the schema changes.
    const second = await place.spawn(THIS_BUILD, [], 2).ready;
    const now = sessionOf(place, THIS_BUILD, second, tokens);
    await Promise.all([queue(before, jobs), queue(now, jobs)]);
    for (const session of [before, now]) {
      const { status, data, text } = await session.operator.get<{ id: string }[]>('/jobs?limit=0');
      assert.equal(status, 200, text);
      assert.equal(data.length, jobs.length);
    }
    for (const id of jobs) {
      assert.equal((await now.operator.waitFor(id)).state, 'succeeded');
      await assertRanOnce(now, id);
    }
    assert.equal(await first.stop(), 0);
    assert.equal(await second.stop(), 0);
    // The chains of a build before the keyed ledger get their seams by a start without its daemons.
    const last = await place.spawn(THIS_BUILD, [], 2).ready;
    await assertHealthy(sessionOf(place, THIS_BUILD, last, tokens));
    assert.equal(await last.stop(), 0);
  });
}

async function queue({ operator }: Session, jobs: string[]): Promise<void> {
  for (let i = 0; i < JOBS_EACH; i += 1) jobs.push(await operator.run(['echo', 'once']));
}
