/** Settings that are read again while the daemon runs: its targets change, and a broken file changes nothing. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { until } from '../../support/api-client.ts';
import { startRefused } from '../../support/daemon.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { openReceiver } from '../../support/notify/receiver.ts';

interface Reloaded {
  readonly schedules: number;
  readonly transports: number;
  readonly restart_needed: readonly string[];
}

describe('A reload', () => {
  test('sends to the targets that the files name now, and names what needs a restart', async (t) => {
    const [first, second] = [await openReceiver(t), await openReceiver(t)];
    const fixture = await openFixture(t);
    const targets = join(fixture.dir, 'targets');
    const config = join(fixture.dir, 'settings.yaml');
    writeFileSync(targets, `# the team\n\nfirst=${first.url}\n`);
    writeFileSync(config, `notify-file: ${targets}\nmax-jobs: 3\ntrusted-proxy: [127.0.0.1, "10.0.0.0/8"]\n`);
    const daemon = await fixture.start({ args: ['--config', config] });
    const api = daemon.api(fixture.token);
    const reload = async (): Promise<Reloaded> => {
      const { status, data } = await api.post<Reloaded>('/maintenance/reload', {});
      assert.equal(status, 200);
      return data;
    };
    const fail = (): Promise<string> => fixture.queue({ command: ['/bin/false'] });

    await fail();
    await until('the first target hears', () => first.pages.length === 1);
    await fixture.call('schedule.add', {
      name: 'nightly',
      cron: '0 3 * * *',
      command: ['true'],
      inventory: 'localhost',
    });
    writeFileSync(targets, `second=${second.url}\n`);
    writeFileSync(config, `notify-file: ${targets}\nmax-jobs: 5\n`);
    assert.deepEqual(await reload(), { schedules: 1, transports: 1, restart_needed: ['trusted-proxy', 'max-jobs'] });
    await fail();
    await until('the second target hears', () => second.pages.length === 1);
    assert.equal(first.pages.length, 1);

    // What cannot be read or used changes nothing, and the refusal names the flag and the line.
    writeFileSync(config, `notify-file: ${targets}\nmax-job: 5\n`);
    const refused = await api.post('/maintenance/reload', {});
    assert.equal(refused.status, 400);
    assert.match(refused.error?.message ?? '', /^--config: line 2: "max-job" is no setting/);
    writeFileSync(config, `notify-file: ${targets}\n`);
    writeFileSync(targets, 'smtp://mail.example.com\n');
    const refusal = await api.post('/maintenance/reload', {});
    assert.equal(refusal.status, 400);
    await fail();
    await until('the second target still hears', () => second.pages.length === 2);

    // The command line on the machine asks the daemon by the store.
    const locally = (): Promise<Reloaded> => fixture.call('maintenance.reload', {});
    await assert.rejects(locally, { code: 'invalid_argument', message: refusal.error?.message });
    writeFileSync(targets, `first=${first.url}\nsecond=${second.url}\n`);
    const restart = ['trusted-proxy', 'max-jobs'];
    assert.deepEqual(await locally(), { schedules: 1, transports: 2, restart_needed: restart });

    // A service manager asks by a signal.
    process.kill(daemon.pid, 'SIGHUP');
    await until('it is reloaded', () => daemon.log().includes('"msg":"reloaded"'));
    await fail();
    await until('both hear', () => first.pages.length === 2 && second.pages.length === 3);
    const { data: entries } = await api.get<{ name: string; detail: string }[]>('/health');
    assert.match(entries.find(({ name }) => name === 'notifications')?.detail ?? '', /2 targets of --notify/);
  });

  test('refuses a file with a credential that others can read, and starts with one that they cannot', async (t) => {
    const fixture = await openFixture(t);
    const targets = join(fixture.dir, 'targets');
    writeFileSync(targets, 'ntfy+https://:tk_s3cret@ntfy.example.com/ops\n', { mode: 0o644 });
    const dataDir = join(fixture.dir, 'data');
    const { stdout, stderr } = await startRefused({ dataDir, args: ['--notify-file', targets] });
    assert.match(stdout + stderr, /--notify-file: the file holds a credential, and other users can read or write it/);
    assert.doesNotMatch(stdout + stderr, /s3cret/);
    chmodSync(targets, 0o600);
    const daemon = await fixture.start({ args: ['--notify-file', targets] });
    const { data } = await daemon.api(fixture.token).post<Reloaded>('/maintenance/reload', {});
    assert.equal(data.transports, 1);
  });
});
