/** The real Prometheus Alertmanager, from Debian's package, posts to a webhook of the real daemon. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { until } from '../../support/api-client.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

const PROGRAM = 'prometheus-alertmanager';

interface Alertmanager {
  /** Sends alerts as Prometheus does. */
  post(alerts: readonly object[]): Promise<void>;
  /** Everything that it logged. */
  log(): string;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function config(hookUrl: string): string {
  const timing = ['group_by: [alertname]', 'group_wait: 100ms', 'group_interval: 300ms', 'repeat_interval: 1h'];
  const receiver = (name: string, more: readonly string[]): string[] => [
    `- name: ${name}`,
    '  webhook_configs:',
    `  - url: ${hookUrl}`,
    ...more.map((line) => `    ${line}`),
  ];
  return [
    'route:',
    '  receiver: gatehouse',
    ...timing.map((line) => `  ${line}`),
    '  routes:',
    '  - receiver: few',
    '    matchers: [alertname="Storm"]',
    'receivers:',
    ...receiver('gatehouse', ['send_resolved: true']),
    ...receiver('few', ['max_alerts: 2']),
    '',
  ].join('\n');
}

async function startAlertmanager(t: TestContext, dir: string, hookUrl: string): Promise<Alertmanager> {
  mkdirSync(dir);
  writeFileSync(join(dir, 'alertmanager.yml'), config(hookUrl));
  const port = await freePort();
  const args = [
    `--config.file=${join(dir, 'alertmanager.yml')}`,
    `--storage.path=${join(dir, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ];
  const child = spawn(PROGRAM, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  t.after(() => ended(child));
  const url = `http://127.0.0.1:${port}`;
  await until('Alertmanager is ready', () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => undefined,
    ),
  );
  return {
    log: () => log,
    async post(alerts) {
      const response = await fetch(`${url}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(alerts),
      });
      assert.equal(response.status, 200, await response.text());
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

interface Seen {
  readonly name: string | null;
  readonly status: string | null;
  readonly fingerprint: string | null;
  readonly labels: Readonly<Record<string, string>>;
}

function alert(instance: string, more: object = {}, alertname = 'DiskFull'): object {
  return {
    labels: { alertname, severity: 'page', instance },
    annotations: { summary: `${instance} is full` },
    ...more,
  };
}

async function events(fixture: Fixture): Promise<Seen[]> {
  const rows = await fixture.store.db
    .selectFrom('events')
    .select(['name', 'status', 'fingerprint', 'labels'])
    .where('source', '=', 'alertmanager')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ ...row, labels: JSON.parse(row.labels) as Record<string, string> }));
}

test(
  'A real Alertmanager: each alert that fires or ends is a separate event, and so is what max_alerts dropped',
  { skip: needs('prometheus-alertmanager') },
  async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start();
    const { url } = await fixture.call<{ url: string }>('webhook.add', { name: 'alerts', source: 'alertmanager' });
    const alertmanager = await startAlertmanager(
      t,
      join(fixture.dir, 'alertmanager'),
      `${daemon.ready.ingress_url}${new URL(url).pathname}`,
    );

    await alertmanager.post([alert('db1'), alert('db2')]);
    await until('both fire', async () => (await events(fixture)).length >= 2);
    const firing = await events(fixture);
    assert.deepEqual(
      firing.map(({ name, status, labels }) => [name, status, labels['instance'], labels['severity']]),
      [
        ['DiskFull', 'firing', 'db1', 'page'],
        ['DiskFull', 'firing', 'db2', 'page'],
      ],
    );
    const [first, second] = firing.map(({ fingerprint }) => fingerprint);
    assert.match(first ?? '', /^[0-9a-f]{16}$/);
    assert.notEqual(first, second);

    await alertmanager.post([alert('db1', { endsAt: new Date().toISOString() })]);
    await until('the first one has ended', async () =>
      (await events(fixture)).some(({ status }) => status === 'resolved'),
    );
    // The group still fires: only an alert's own status tells that this one does not.
    assert.deepEqual(
      (await events(fixture))
        .filter(({ status }) => status === 'resolved')
        .map(({ fingerprint, labels }) => [fingerprint, labels['instance']]),
      [[first, 'db1']],
    );

    await alertmanager.post([alert('db2', { endsAt: new Date().toISOString() })]);
    await until('the second one has ended', async () =>
      (await events(fixture)).some(({ status, fingerprint }) => status === 'resolved' && fingerprint === second),
    );
    assert.doesNotMatch(alertmanager.log(), /level=error/);
    const faults = fixture.store.db.selectFrom('events').select('reason').where('outcome', '=', 'error');
    assert.deepEqual(await faults.execute(), []);

    const storm = Array.from({ length: 5 }, (_, n) => alert(`web${n}`, {}, 'Storm'));
    await alertmanager.post(storm);
    const [fault] = await until('an event says what max_alerts dropped', async () => {
      const found = await faults.execute();
      return found.length > 0 && found;
    });
    assert.equal(fault?.reason, 'The sender left 3 alerts out of this message (max_alerts).');
    assert.equal((await events(fixture)).filter(({ name }) => name === 'Storm').length, 2);
    const health = daemon.api(fixture.token);
    await until('the doctor counts the message', async () =>
      (await health.get<{ name: string; detail: string }[]>('/health')).data.some(
        ({ name, detail }) => name === 'ingress' && /1 refused or taken with a fault.*\(max_alerts\)/.test(detail),
      ),
    );
  },
);
