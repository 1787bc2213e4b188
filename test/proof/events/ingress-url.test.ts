/** The command line on the data directory makes URLs that a daemon beside it answers, whatever port that one got. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as app from '../../../src/app.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { RunningDaemon } from '../../support/daemon.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { svc } from '../../support/terminal.ts';

const OWN_SETTING = '127.0.0.1:9';

/** The URL that `svc webhook add` prints, without `--remote`. */
async function addHook(fixture: Fixture, name: string, more: Readonly<Record<string, string>> = {}): Promise<URL> {
  const database = fixture.databaseUrl === null ? {} : { SVC_DATABASE_URL: fixture.databaseUrl };
  const env = {
    SVC_DATA_DIR: `${fixture.dir}/data`,
    SVC_SEAL_KEY_FILE: `${fixture.dir}/seal.key`,
    SVC_INGRESS_ADDR: OWN_SETTING,
    ...database,
    ...more,
  };
  const ran = await svc(['webhook', 'add', name, '--source', 'generic', '--output', 'json'], {
    env,
    app,
    clock: systemClock,
  });
  assert.equal(ran.exitCode, 0, ran.stdout);
  return new URL((JSON.parse(ran.stdout) as { data: { url: string } }).data.url);
}

/** Kills it, and on PostgreSQL ends its lease, so that the test need not wait until it has run out. */
async function endOf(fixture: Fixture, daemon: RunningDaemon): Promise<void> {
  await daemon.kill();
  if (fixture.databaseUrl === null) return;
  await fixture.store.write((tx) =>
    tx.db.updateTable('daemons').set({ lease_until: 1 }).where('ingress_url', '=', daemon.ready.ingress_url).execute(),
  );
}

for (const postgres of [false, true]) {
  test(
    `On ${postgres ? 'PostgreSQL' : 'SQLite'} the URL of a new webhook is that of the newest daemon that lives ` +
      `here, and the setting's where none does`,
    async (t) => {
      const fixture = await openFixture(t, { postgres });
      assert.equal((await addHook(fixture, 'before')).host, OWN_SETTING);

      const older = await fixture.start();
      const url = await addHook(fixture, 'one');
      assert.equal(url.origin, older.ready.ingress_url);
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"name":"DiskFull","status":"firing"}',
      });
      assert.equal(answer.status, 202, await answer.text());

      const newer = await fixture.start();
      assert.equal((await addHook(fixture, 'two')).origin, newer.ready.ingress_url);
      assert.equal(
        (await addHook(fixture, 'public', { SVC_PUBLIC_URL: 'https://svc.example' })).origin,
        'https://svc.example',
      );

      await endOf(fixture, newer);
      assert.equal((await addHook(fixture, 'three')).origin, older.ready.ingress_url);
      await endOf(fixture, older);
      assert.equal((await addHook(fixture, 'four')).host, OWN_SETTING);
    },
  );
}
