/** Commands on the hosts of an inventory: the real daemon, ssh and OpenSSH server, whose aliases are the hosts. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { Projected } from '../../../src/views/views.ts';
import { listHostResults } from '../../../src/store/commands/host-results.ts';
import { until } from '../../support/api-client.ts';
import type { RunningDaemon } from '../../support/daemon.ts';
import { type Fixture, openFixture, processesOf } from '../../support/fixtures/installation.ts';
import { type SshServer, startSshServer } from '../../support/inventories/sshd.ts';
import { refusal } from '../../support/refusal.ts';
import { needs } from '../../support/tools.ts';

const skip = needs('ssh', 'sshd');
const ENDED = ['succeeded', 'failed', 'cancelled'];
const LIMIT_MS = 120_000;

interface Scene {
  readonly fixture: Fixture;
  readonly server: SshServer;
  readonly daemon: RunningDaemon;
  /** Queues the command; answers the id of its job. */
  readonly run: (command: readonly string[], some?: object) => Promise<string>;
  /** Waits for the end of the job; answers its state, exit code and results. */
  readonly end: (jobId: string) => Promise<Projected<'command.result'> & { exitCode: number | null }>;
}

/** A daemon, and an inventory `prod` whose hosts `web…` are the server; further lines are added to it. */
async function scene(t: TestContext, hosts: number, more = ''): Promise<Scene> {
  const server = await startSshServer();
  t.after(() => server.stop());
  const fixture = await openFixture(t);
  const at = `ansible_host=127.0.0.1 ansible_port=${server.port} ansible_user=${server.user}`;
  await fixture.call('secret.set', { secret: 'ops/key', value: server.privateKey.trimEnd() });
  const text = `[web]\nweb[1:${hosts}] ${at}\n${more}`;
  await fixture.call('inventory.add', { name: 'prod', text, ssh_key: 'ops/key' });
  await fixture.call('inventory.trust', { name: 'prod', hosts: 'web', fingerprints: [server.fingerprint] });
  const daemon = await fixture.start();
  return {
    fixture,
    daemon,
    server,
    async run(command, some = {}) {
      const order = { inventory: 'prod', command, ...some };
      return (await fixture.call<{ job_id: string }>('command.run', order)).job_id;
    },
    async end(jobId) {
      const { exit_code: exitCode } = await fixture.waitFor(jobId, ENDED, LIMIT_MS);
      return { ...(await fixture.call<Projected<'command.result'>>('job.result', { id: jobId })), exitCode };
    },
  };
}

describe('A command on the hosts of an inventory', { skip }, () => {
  test('runs on each, and each word arrives as it was given (T14)', async (t) => {
    const { run, end, fixture } = await scene(t, 3);
    const words = ["it's", '$HOME', '`id`', 'a  b', '*', '"', '\\', '', '-x', 'a\nb', ';reboot', 'é'];
    const job = await run(['printf', '<%s>', ...words]);
    const { state, exitCode, hosts } = await end(job);
    assert.deepEqual([state, exitCode], ['succeeded', 0]);
    const stdout = words.map((word) => `<${word}>`).join('');
    assert.deepEqual(
      hosts,
      ['web1', 'web2', 'web3'].map((host) => ({ host, rc: 0, changed: null, stdout, stderr: '', status: 'ok' })),
    );
    const lines = (await fixture.events(job)).flatMap((event) => (event.type === 'log' ? [event.text] : []));
    for (const host of ['web1', 'web2', 'web3']) assert.ok(lines.includes(`${host}: b><;reboot><é>`), lines.join('\n'));
    assert.deepEqual(fixture.leftRuns(), []);
  });

  test('has an end per host: a command that fails, and one that ends with the code of ssh itself', async (t) => {
    const { run, end } = await scene(t, 1, '[self]\nhere ansible_connection=local\n');
    const failed = await end(await run(['sh', '-c', 'echo out; echo err >&2; exit 7']));
    assert.deepEqual([failed.state, failed.exitCode], ['failed', 7]);
    assert.deepEqual(
      failed.hosts.map((each) => [each.host, each.rc, each.stdout, each.stderr, each.status]),
      [
        ['here', 7, 'out\n', 'err\n', 'failed'],
        ['web1', 7, 'out\n', 'err\n', 'failed'],
      ],
    );
    const same = await end(await run(['sh', '-c', 'exit 255'], { limit: 'web' }));
    assert.deepEqual([same.hosts[0]?.status, same.hosts[0]?.rc], ['failed', 255]);
  });

  test('F26: counts hosts as unreachable that are silent, closed or unknown, and runs on the others', async (t) => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    t.after(() => silent.close());
    const lines = `[bad]\nsilent ansible_host=127.0.0.1 ansible_port=${port}\nunknown ansible_host=127.0.0.1\n`;
    const { run, end, server, fixture } = await scene(t, 1, lines);
    const rows = { inventory: 'prod', type: 'ssh-ed25519', key: 'AAAA', added_at: 1, added_by: 'test' };
    await fixture.store.write(async (tx) => {
      await tx.db
        .insertInto('host_keys')
        .values({ ...rows, host: 'silent' })
        .execute();
    });
    assert.ok(server.port !== port);
    const { state, exitCode, hosts } = await end(await run(['true']));
    assert.deepEqual([state, exitCode], ['failed', 255]);
    assert.deepEqual(
      hosts.map(({ host, rc, status }) => [host, rc, status]),
      [
        ['silent', null, 'unreachable'],
        ['unknown', null, 'unreachable'],
        ['web1', 0, 'ok'],
      ],
    );
    assert.match(hosts[0]?.stderr ?? '', /timed out/);
    assert.match(hosts[1]?.stderr ?? '', /^its host key was not accepted: svc inventory trust prod unknown\n$/);
  });

  test('does not reach a host whose key has changed, and never accepts the new one', async (t) => {
    const { run, end, server, fixture } = await scene(t, 1);
    const before = await fixture.store.db.selectFrom('host_keys').selectAll().execute();
    await server.changeHostKey();
    const { state, hosts } = await end(await run(['true']));
    assert.equal(state, 'failed');
    assert.deepEqual([hosts[0]?.status, hosts[0]?.rc], ['unreachable', null]);
    assert.match(hosts[0]?.stderr ?? '', /^its host key (?:has changed|was not accepted)/);
    assert.deepEqual(await fixture.store.db.selectFrom('host_keys').selectAll().execute(), before);
    await fixture.call('inventory.trust', { name: 'prod', hosts: 'web1', fingerprints: [server.fingerprint] });
    assert.equal((await end(await run(['true']))).state, 'succeeded');
  });

  test('runs on more hosts than it reaches at a time', async (t) => {
    const { run, end } = await scene(t, 20);
    const { state, hosts } = await end(await run(['echo', 'x']));
    assert.equal(state, 'succeeded', JSON.stringify(hosts.filter(({ status }) => status !== 'ok')));
    assert.equal(hosts.filter(({ stdout }) => stdout === 'x\n').length, 20);
  });

  test('ends when it is cancelled, with an end for every host, and leaves no key behind (T55)', async (t) => {
    const { run, fixture, end } = await scene(t, 12);
    const job = await run(['sh', '-c', 'echo begun; sleep 600']);
    await fixture.waitFor(job, ['running'], LIMIT_MS);
    const until = Date.now() + LIMIT_MS;
    while (!(await fixture.events(job)).some((event) => event.type === 'log')) assert.ok(Date.now() < until);
    await fixture.call('job.cancel', { id: job });
    const { state, hosts } = await end(job);
    assert.equal(state, 'cancelled');
    assert.equal(hosts.length, 12);
    assert.ok(hosts.every(({ rc, status }) => rc === null && status === 'failed'));
    assert.deepEqual(fixture.leftRuns(), []);
    const data = readdirSync(join(fixture.dir, 'data'), { recursive: true, encoding: 'utf8' });
    assert.ok(data.every((path) => !path.endsWith('ssh-key')));
  });

  test('F01: is interrupted with the results so far if its daemon is killed, and runs on no host twice', async (t) => {
    const { run, fixture, daemon } = await scene(t, 20);
    const place = join(fixture.dir, 'hosts');
    const gate = join(fixture.dir, 'gate');
    mkdirSync(place);
    writeFileSync(gate, '');
    // Each host takes a number. Three end at once, and the others wait for the gate, which is removed at the end.
    const script =
      'n=1; while ! mkdir "$0/$n" 2>/dev/null; do n=$((n+1)); done; echo "number $n"; [ $n -le 3 ] && exit 0; ' +
      'while [ -e "$1" ]; do sleep 0.2; done; touch "$0/ended-$n"';
    const job = await run(['sh', '-c', script, place, gate]);
    const results = () => listHostResults(fixture.store.db, job);
    await until('three hosts have an end', async () => (await results()).length === 3, LIMIT_MS);
    await until('ten others have begun', () => readdirSync(place).length === 13, LIMIT_MS);
    await daemon.kill();
    await fixture.start();
    assert.equal((await fixture.waitFor(job, ['interrupted'], LIMIT_MS)).state, 'interrupted');
    assert.deepEqual(processesOf(new Set([job])), []);
    await until('the directory of the run is gone', () => fixture.leftRuns().length === 0, LIMIT_MS);
    const { hosts } = await fixture.call<Projected<'command.result'>>('job.result', { id: job });
    assert.deepEqual(
      hosts.map(({ rc, status, stdout }) => `${rc} ${status} ${stdout}`).toSorted(),
      [1, 2, 3].map((n) => `0 ok number ${n}\n`),
    );
    // The next command of the same inventory runs, and the interrupted one has begun on no other host.
    const after = await run(['true']);
    assert.equal((await fixture.waitFor(after, ENDED, LIMIT_MS)).state, 'succeeded');
    assert.equal(readdirSync(place).filter((name) => !name.startsWith('ended-')).length, 13);
  });

  test('is refused before it is queued where the inventory names no key', async (t) => {
    const fixture = await openFixture(t);
    await fixture.call('inventory.add', { name: 'prod', text: 'web1\nhere ansible_connection=local\n' });
    const order = { inventory: 'prod', command: ['true'] };
    await assert.rejects(
      fixture.call('command.run', order),
      refusal('conflict', /^The inventory prod names no SSH key: svc inventory update prod --ssh-key PROJECT\/SECRET$/),
    );
    await fixture.call('command.run', { ...order, limit: 'here' });
  });
});
