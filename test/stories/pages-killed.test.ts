/** F20: a daemon that dies between sending a page and recording it, or between recording it and the next. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/api-client.ts';
import { openReceiver } from '../support/page-receiver.ts';
import { openSite } from '../support/site.ts';

const KILLS = 20;
/** Milliseconds after a page arrived at which its daemon is killed; before the page is answered where it is null. */
const POINTS: readonly (number | null)[] = [null, 0, 1, 3, 8];

test('F20: over 20 kills at send points no page is lost, at most one is sent twice for each, and a repeat has the same id', async (t) => {
  const receiver = await openReceiver(t);
  const site = await openSite(t);
  const jobs: string[] = [];
  for (let round = 0; round < KILLS; round += 1) {
    const daemon = await site.start({ env: { SVC_NOTIFY: `ntfy+${receiver.url}/ops` } });
    const point = POINTS[round % POINTS.length] ?? null;
    const arrived = receiver.pages.length;
    const { promise: killed, resolve } = Promise.withResolvers<void>();
    receiver.onPage = async () => {
      receiver.onPage = null;
      if (point === null) return daemon.kill().then(resolve);
      setTimeout(() => void daemon.kill().then(resolve), point);
    };
    // Armed and failing: two reasons to tell, and one page.
    const job = await site.queue({ command: ['sh', '-c', 'sleep 0.3; exit 1'] });
    await site.call('job.notify', { id: job });
    jobs.push(job);
    await until('a page arrives', async () => (receiver.pages.length > arrived ? true : undefined));
    await killed;
  }
  receiver.onPage = null;
  await site.start({ env: { SVC_NOTIFY: `ntfy+${receiver.url}/ops` } });
  const told = (job: string) => receiver.pages.filter(({ page }) => page.message.includes(job));
  await until('every end is told', async () => (jobs.every((job) => told(job).length > 0) ? true : undefined));
  await until('nothing waits', async () => ((await site.store.db.selectFrom('deliveries').select('page_id').where('state', '=', 'waiting').execute()).length === 0 ? true : undefined));
  const doubled = jobs.map((job) => told(job).length - 1).reduce((a, b) => a + b, 0);
  assert.ok(doubled <= KILLS, `${doubled} pages were sent again over ${KILLS} kills`);
  for (const job of jobs) assert.equal(new Set(told(job).map(({ page }) => page.sequence_id)).size, 1, job);
});
