/** Where links and webhooks are answered, for a verb on the machine of a daemon, on each database. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { ingressUrlOf } from '../../../src/app/ingress-url.ts';
import { thisMachine } from '../../../src/daemon/core/identity.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { insertDaemon, markStopped } from '../../../src/store/maintenance/daemons.ts';
import { ENGINES, freshStore, leaseClock, temporaryDirectory } from '../engine-fixture.ts';

const HOUR_MS = 3_600_000;
const OF_SETTINGS = 'http://127.0.0.1:8444';

for (const engine of ENGINES) {
  describe(`The address of links and webhooks on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('T80: is never that of a daemon that has stopped, whatever its row says', async (t) => {
      const { store } = its;
      const instances = temporaryDirectory();
      t.after(() => instances.remove());
      const address = () =>
        ingressUrlOf({
          store,
          clock: systemClock,
          settings: { ingressAddr: { host: '127.0.0.1', port: 8444 } },
          paths: { instances: instances.path },
        });
      const stranger = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1e6)']);
      t.after(() => stranger.kill());
      const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
      await once(gone, 'exit');
      const { host, bootId } = thisMachine();
      const lease = engine.hasLeases ? (await leaseClock(store)) + HOUR_MS : null;
      const add = (id: string, pid: number | undefined, started_at: number) =>
        store.write((tx) =>
          insertDaemon(tx, {
            id,
            host,
            boot_id: bootId,
            pid: pid ?? 0,
            version: '0',
            started_at,
            lease_until: lease,
            stopped_at: null,
            ingress_url: `http://127.0.0.1/${id}`,
          }),
        );
      const now = Date.now();
      assert.equal(await address(), OF_SETTINGS);
      await add('dmn_gone', gone.pid, now + 3);
      await add('dmn_other', stranger.pid, now - HOUR_MS);
      assert.equal(await address(), OF_SETTINGS, 'its process is gone, or another one got the number');
      await add('dmn_before', process.pid, now);
      await add('dmn_here', process.pid, now + 2);
      const here = engine.hasLeases ? 'http://127.0.0.1/dmn_here' : OF_SETTINGS;
      assert.equal(await address(), here);
      await store.write((tx) => markStopped(tx, 'dmn_here'));
      assert.equal(await address(), OF_SETTINGS, 'one process has one daemon, the newest');
      const forged = { pid: process.pid, started_at: now + 5, stopped_at: null };
      await store.write((tx) => tx.db.updateTable('daemons').set(forged).where('id', '=', 'dmn_gone').execute());
      assert.equal(await address(), OF_SETTINGS, 'the tag covers the process');
    });
  });
}
