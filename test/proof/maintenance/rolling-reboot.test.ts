/** The hosts of three daemons on one PostgreSQL are rebooted one after another, as docs/how-to says, while jobs run. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { until } from '../../support/api-client.ts';
import type { RunningDaemon } from '../../support/daemon.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';

const NAMES = ['web1', 'web2', 'web3'] as const;
/** A claim waits for a free slot of a daemon, so that each always has jobs. */
const AT_A_TIME = 6;
const SECONDS = 1;
const MAIN = process.env['GATEHOUSE_MAIN'] ?? 'src/main.ts';

/** Queues a job whenever one has ended, until `stop`, which resolves with all ids when all have ended. */
function keepBusy(fixture: Fixture): { stop(): Promise<string[]> } {
  const ids: string[] = [];
  const over = new AbortController();
  const one = async (n: number): Promise<void> => {
    for (let round = 0; !over.signal.aborted; round += 1) {
      const id = await fixture.queue({ command: fixture.witness.command(`job-${n}-${round}`, SECONDS) });
      ids.push(id);
      await fixture.waitFor(id, ['succeeded', 'failed', 'cancelled', 'interrupted']);
    }
  };
  const all = Promise.all(Array.from({ length: AT_A_TIME }, (_, n) => one(n)));
  return {
    async stop() {
      over.abort();
      await all;
      return ids;
    },
  };
}

describe('a rolling reboot', () => {
  test('of three daemons: no job is interrupted, lost or run twice, and the others work on', async (t) => {
    const fixture = await openFixture(t, { postgres: true });
    const start = (name: string): Promise<RunningDaemon> => fixture.start({ args: ['--node-name', name] });
    const daemons = new Map<string, RunningDaemon>();
    await Promise.all(NAMES.map(async (name) => void daemons.set(name, await start(name))));
    const claimsOf = async (name: string): Promise<number> => {
      const jobs = fixture.store.db.selectFrom('jobs').innerJoin('daemons', 'daemons.id', 'jobs.daemon_id');
      return (await jobs.select('jobs.id').where('daemons.node', '=', name).execute()).length;
    };
    const verb = async (...words: string[]): Promise<string> => {
      const files = ['--data-dir', `${fixture.dir}/data`, '--seal-key-file', `${fixture.dir}/seal.key`];
      const env = { ...process.env, SVC_DATABASE_URL: fixture.databaseUrl ?? '' };
      return (await promisify(execFile)(process.execPath, [MAIN, 'maintenance', ...words, ...files], { env })).stdout;
    };
    const load = keepBusy(fixture);
    for (const name of NAMES) {
      await until(`${name} works`, async () => (await claimsOf(name)) > 0);
      await fixture.call('maintenance.cordon', { node: name });
      const atCordon = await claimsOf(name);
      assert.match(await verb('readiness', '--node', name, '--wait', '--timeout', '20s'), /safe/i);
      assert.equal(await daemons.get(name)!.stop(), 0);
      const others = NAMES.filter((other) => other !== name);
      const before = await Promise.all(others.map(claimsOf));
      daemons.set(name, await start(name));
      await until('the others work on', async () =>
        (await Promise.all(others.map(claimsOf))).every((count, n) => count > (before[n] ?? 0)),
      );
      assert.equal(await claimsOf(name), atCordon, `${name} claimed while it was cordoned`);
      await fixture.call('maintenance.uncordon', { node: name });
      await until(`${name} works again`, async () => (await claimsOf(name)) > atCordon);
    }
    const ids = await load.stop();
    const states = await Promise.all(ids.map(async (id) => (await fixture.row(id)).state));
    assert.deepEqual([...new Set(states)], ['succeeded']);
    const lines = fixture.witness.lines();
    for (const what of ['start', 'end'] as const) {
      const said = lines.filter((line) => line.what === what).map(({ jobId }) => jobId);
      assert.deepEqual(said.toSorted(), ids.toSorted(), `each job has one ${what}`);
    }
    await Promise.all([...daemons.values()].map(async (daemon) => assert.equal(await daemon.stop(), 0)));
  });
});
