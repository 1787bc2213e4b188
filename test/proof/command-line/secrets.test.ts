/** Each user of a machine can read the command line of each process: nothing there is worth reading. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { listProcesses } from '../../../src/runners/process/process-table.ts';
import { until } from '../../support/api-client.ts';
import { startRefused } from '../../support/daemon.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

const SECRET = 'pw-of-the-target';

/** A process and everything that it started. */
async function treeOf(pid: number): Promise<number[]> {
  const all = await listProcesses();
  const tree = [pid];
  for (const parent of tree) tree.push(...all.filter((each) => each.parent === parent).map((each) => each.pid));
  return tree;
}

const NOT_SHOWN = /words-of-a-flag|pw-of-the-target|SVC_NOTIFY|SVC_DATA/;

/** Empty for a process that has ended. */
function fileOf(pid: number, name: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1').replace(/\0+$/, '');
  } catch {
    return '';
  }
}

describe('T65: credentials on the command line', () => {
  test('T65: a daemon does not start with a password in a flag', async (t) => {
    const fixture = await openFixture(t);
    for (const args of [
      ['--database-url', `postgres://me:${SECRET}@127.0.0.1:1/x`],
      ['--notify', `https://me:${SECRET}@127.0.0.1:1/x`],
    ]) {
      const { exitCode, stdout, stderr } = await startRefused({ dataDir: join(fixture.dir, 'other'), args });
      assert.equal(exitCode, 1);
      assert.match(stdout, /"code":"invalid_argument"/);
      assert.equal((stdout + stderr).includes(SECRET), false);
    }
  });

  test('T65: the daemon and its helpers show the verb and no argument, and no target of the environment', async (t) => {
    const fixture = await openFixture(t);
    const env = { SVC_NOTIFY: `https://me:${SECRET}@127.0.0.1:1/x` };
    const daemon = await fixture.start({ args: ['--public-url', 'https://words-of-a-flag.example'], env });
    const id = await fixture.queue({ command: ['/bin/sleep', '60'] });
    await until('the program runs', async () => ((await fixture.row(id)).leader_pid === null ? undefined : true));
    assert.equal(fileOf(daemon.pid, 'cmdline'), 'svc serve');
    // A helper that is just being started is a copy of the daemon until it executes its program, and one may have
    // ended.
    await until('two helpers or more show nothing', async () => {
      const [, ...helpers] = await treeOf(daemon.pid);
      return (
        helpers.length >= 2 && helpers.every((pid) => !NOT_SHOWN.test(fileOf(pid, 'cmdline') + fileOf(pid, 'environ')))
      );
    });
  });

  test('T65: the password of a PostgreSQL comes from the file that PGPASSFILE names', async (t) => {
    const fixture = await openFixture(t, { postgres: true });
    const url = new URL(fixture.databaseUrl!);
    const file = join(fixture.dir, 'pgpass');
    writeFileSync(file, `${url.hostname}:${url.port}:*:${url.username}:${url.password}\n`, { mode: 0o600 });
    url.password = '';
    const daemon = await fixture.start({
      databaseUrl: null,
      args: ['--database-url', url.href],
      env: { PGPASSFILE: file },
    });
    const id = await fixture.queue({ command: ['/bin/true'] });
    assert.equal((await fixture.waitFor(id, ['succeeded', 'failed'])).state, 'succeeded');
    await daemon.stop();
    const { stdout } = await startRefused({
      dataDir: join(fixture.dir, 'data'),
      args: ['--database-url', url.href],
      env: { PGPASSFILE: join(fixture.dir, 'none') },
    });
    assert.match(stdout, /"code":"unavailable"/);
  });
});
