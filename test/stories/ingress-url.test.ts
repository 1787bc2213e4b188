/** The command line on the data directory makes URLs that a daemon beside it answers, whatever port that one got. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as app from '../../src/app.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { until } from '../support/api-client.ts';
import { openSite, type Site } from '../support/site.ts';
import { svc } from '../support/terminal.ts';

const OWN_SETTING = '127.0.0.1:9';
/** Where leases tell who lives: a dead daemon is believed in for so long. */
const FLAGS = { args: ['--ingress-addr', '127.0.0.1:0', '--lease', '2s'] };

/** The URL that `svc webhook add` prints, without `--remote`. */
async function addHook(site: Site, name: string, more: Readonly<Record<string, string>> = {}): Promise<URL> {
  const database = site.databaseUrl === null ? {} : { SVC_DATABASE_URL: site.databaseUrl };
  const env = { SVC_DATA_DIR: `${site.dir}/data`, SVC_SEAL_KEY_FILE: `${site.dir}/seal.key`, SVC_INGRESS_ADDR: OWN_SETTING, ...database, ...more };
  const ran = await svc(['webhook', 'add', name, '--source', 'generic', '--output', 'json'], { env, app, clock: systemClock });
  assert.equal(ran.exitCode, 0, ran.stdout);
  return new URL((JSON.parse(ran.stdout) as { data: { url: string } }).data.url);
}

for (const postgres of [false, true]) {
  test(`On ${postgres ? 'PostgreSQL' : 'SQLite'} the URL of a new webhook is that of the newest daemon that lives here, and the setting's where none does`, { timeout: 60_000 }, async (t) => {
    const site = await openSite(t, { postgres });
    assert.equal((await addHook(site, 'before')).host, OWN_SETTING);

    const older = await site.start(FLAGS);
    const url = await addHook(site, 'one');
    assert.equal(url.origin, older.ready.ingress_url);
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"DiskFull","status":"firing"}' });
    assert.equal(answer.status, 202, await answer.text());

    const newer = await site.start(FLAGS);
    assert.equal((await addHook(site, 'two')).origin, newer.ready.ingress_url);
    assert.equal((await addHook(site, 'public', { SVC_PUBLIC_URL: 'https://svc.example' })).origin, 'https://svc.example');

    await newer.kill();
    await until('the newer one counts as dead', async () => (await site.services.linkOrigin()) === older.ready.ingress_url);
    assert.equal((await addHook(site, 'three')).origin, older.ready.ingress_url);
    await older.kill();
    let tries = 0;
    await until('the older one counts as dead', async () => (await addHook(site, `four-${(tries += 1)}`)).host === OWN_SETTING);
  });
}
