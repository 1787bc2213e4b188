/** The public status page: one page from memory, and nothing else. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { readSettings } from '../../src/config/settings/read-settings.ts';
import { createStatusFace } from '../../src/faces/status/face.ts';
import type { BoardEntry } from '../../src/operations/checks/status-board.ts';
import { until } from '../support/api-client.ts';
import { HandClock } from '../support/clock.ts';
import { EVIL } from '../support/console/story.ts';
import { startDaemon } from '../support/daemon.ts';

const DAY_MS = 86_400_000;

interface Opened {
  readonly url: string;
  readonly clock: HandClock;
  readonly logged: string[];
  reads: number;
  entries: readonly BoardEntry[] | Error;
}

async function open(t: TestContext, labels: Readonly<Record<string, string>>): Promise<Opened> {
  const clock = new HandClock();
  const checks = Object.entries(labels).map(([name, label]) => ({ name, label }));
  const logged: string[] = [];
  const opened: Opened = { url: '', clock, logged, reads: 0, entries: [] };
  const face = createStatusFace({
    clock,
    log: { error: (_fields, message) => void logged.push(message) },
    checks,
    read() {
      opened.reads += 1;
      return opened.entries instanceof Error ? Promise.reject(opened.entries) : Promise.resolve(opened.entries);
    },
  });
  const { url } = await face.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => face.close(0));
  return Object.assign(opened, { url });
}

/** Lets the time pass until the page was made again. */
async function later(opened: Opened, ms: number): Promise<void> {
  const { reads } = opened;
  opened.clock.advance(ms);
  await until('the page was made', () => opened.reads > reads && opened.clock.waiting > 0);
}

/** The checks of these settings. */
function shown(...given: Parameters<typeof readSettings>): string {
  const checks = readSettings(...given).statusChecks;
  return checks.map(({ name, label }) => `${name}: ${label}`).join(', ');
}

const text = async (url: string): Promise<string> => (await fetch(url)).text();

describe('The status page', () => {
  it('shows label, state and shares, is made every 10 s, and reads nothing in between', async (t) => {
    const opened = await open(t, { web: EVIL, db: 'Database' });
    const { clock, url } = opened;
    const uptime = { day: 1, week: 0.99999, month: 0.5, quarter: 0.5, since: clock.now() - 20 * DAY_MS };
    opened.entries = [{ name: 'web', state: 'up', uptime }];
    await later(opened, 10_000);
    const first = await fetch(`${url}/`, { headers: { cookie: 'svc_session=x', authorization: 'Bearer x' } });
    assert.equal(first.status, 200);
    const page = await first.text();
    assert.match(
      page,
      /<h2>&quot;&gt;&lt;img src=x[^\n]*✓ Up.*<dd>100 %<\/dd>.*<dd>99\.99 %<\/dd>.*<dd>50\.00 %<\/dd>/,
    );
    assert.match(page, /observed since 2026-11-01/);
    assert.match(page, /<h2>Database<\/h2><p>\? Unknown<\/p><\/li>/);
    assert.match(page, /<h1>No disruption is known<\/h1>/);
    assert.match(page, /As of <time datetime="2026-11-21T12:00:10\.000Z">2026-11-21 12:00:10 UTC/);
    assert.doesNotMatch(page, /<script|<img|>web</);
    const { reads } = opened;
    for (let i = 0; i < 20; i += 1) assert.equal(await text(`${url}/`), page);
    assert.equal(opened.reads, reads);
    opened.entries = [{ name: 'web', state: 'partly', uptime: null }];
    await later(opened, 10_000);
    assert.match(await text(url), /<h1>1 of 2 are disrupted<\/h1>/);
  });

  it('has headers that permit nothing, sets no cookie, and answers nothing else', async (t) => {
    const { url } = await open(t, {});
    const { headers } = await fetch(url);
    assert.match(
      headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    assert.deepEqual(
      ['set-cookie', 'cache-control', 'x-content-type-options', 'x-frame-options'].map((name) => headers.get(name)),
      [null, 'public, max-age=10', 'nosniff', 'DENY'],
    );
    for (const path of ['/?x', '//', '/index.html', '/api/v1/checks', '/login', '/metrics', '/hook/x', '/%2f']) {
      const response = await fetch(url + path, { redirect: 'manual' });
      assert.deepEqual([response.status, await response.text()], [404, 'Not found.\n'], path);
      assert.equal(response.headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'");
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      assert.equal((await fetch(url, { method })).status, 404, method);
    const head = await fetch(url, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
  });

  it('shows no state that is older than a minute, and the next one that it can read', async (t) => {
    const opened = await open(t, { web: 'Web' });
    opened.entries = [{ name: 'web', state: 'up', uptime: null }];
    await later(opened, 10_000);
    opened.entries = new Error('the store is gone');
    for (let i = 0; i < 6; i += 1) await later(opened, 10_000);
    assert.match(await text(opened.url), /✓ Up.*As of <time datetime="2026-11-21T12:00:10/s, 'and says of when it is');
    await later(opened, 10_000);
    assert.match(await text(opened.url), /The states are not known at the moment.*\? Unknown/s);
    assert.equal(opened.logged.length, 7);
    opened.entries = [{ name: 'web', state: 'down', uptime: null }];
    await later(opened, 10_000);
    assert.match(await text(opened.url), /<h1>1 of 1 is disrupted<\/h1>.*✕ Down/s);
  });

  it('takes its checks from flags, a variable and a file, and refuses other texts', () => {
    assert.equal(shown({ 'status-check': 'web=Web shop\ndb' }, {}), 'web: Web shop, db: db');
    assert.equal(shown({}, { SVC_STATUS_CHECK: 'web=A = B; db=Data base' }), 'web: A = B, db: Data base');
    assert.deepEqual([readSettings({}, {}).statusAddr, shown({}, {})], [null, '']);
    for (const [given, words] of [
      ['Web', /expected NAME/],
      ['web=', /web: expected a label/],
      [`web=${'x'.repeat(81)}`, /web: expected a label/],
      ['web;web=Web', /web is given twice/],
      [Array.from({ length: 51 }, (_, i) => `c${i}`).join(';'), /at most 50/],
    ] as const)
      assert.throws(() => shown({ 'status-check': given }, {}), { code: 'invalid_argument', message: words });
  });

  it('is served by the daemon where it is asked for', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-status-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    // The account of the jobs enters it.
    chmodSync(dir, 0o755);
    const dataDir = join(dir, 'data');
    const args = ['--status-addr', '127.0.0.1:0', '--status-check', 'web=Web shop', '--status-check', 'db'];
    const daemon = await startDaemon({ dataDir, args });
    t.after(() => daemon.stop());
    const page = await text(daemon.ready.status_url ?? '');
    assert.match(page, /<h2>Web shop<\/h2>.*<h2>db<\/h2>/s);
  });
});
