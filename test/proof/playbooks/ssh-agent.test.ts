/** Commands on hosts with the keys of a real ssh-agent, which the operator of the daemon names. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { Projected } from '../../../src/views/views.ts';
import { openMachine } from '../../../src/runners/launch/machine.ts';
import { landlockAbi, LANDLOCK_ABI_OF_NAMED_SOCKETS } from '../../../src/runners/sandbox/kernel/landlock.ts';
import { until } from '../../support/api-client.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { linesOf } from '../../support/infrastructure.ts';
import { startSshServer } from '../../support/inventories/sshd.ts';
import { refusal } from '../../support/refusal.ts';
import { needs } from '../../support/tools.ts';

const ENDED = ['succeeded', 'failed'];
const LIMIT_MS = 120_000;

/** Starts an agent with one key; answers its socket. */
async function startAgent(t: TestContext, dir: string, key: string): Promise<string> {
  const socket = join(dir, 'agent');
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  t.after(async () => {
    agent.kill('SIGTERM');
    await once(agent, 'exit');
  });
  await until('the agent has its socket', () => existsSync(socket), LIMIT_MS);
  const added = spawnSync('ssh-add', ['-q', '-'], { input: key, env: { ...process.env, SSH_AUTH_SOCK: socket } });
  assert.equal(added.status, 0, added.stderr.toString());
  return socket;
}

async function end(fixture: Fixture, some: object) {
  const order = { inventory: 'prod', command: ['echo', 'hello'], ...some };
  const { job_id: id } = await fixture.call<{ job_id: string }>('command.run', order);
  const { state } = await fixture.waitFor(id, ENDED, LIMIT_MS);
  const { hosts } = await fixture.call<Projected<'command.result'>>('job.result', { id });
  return { state, hosts, log: (await linesOf(fixture, id)).join('\n') };
}

describe('An inventory with --ssh-key agent', { skip: needs('ssh', 'sshd') }, () => {
  test('is reached with the keys of the agent, and with no agent that was not named', async (t) => {
    const server = await startSshServer();
    t.after(() => server.stop());
    const fixture = await openFixture(t);
    const at = `ansible_host=127.0.0.1 ansible_port=${server.port} ansible_user=${server.user}`;
    await fixture.call('inventory.add', { name: 'prod', text: `web1 ${at}\n`, ssh_key: 'agent' });
    await fixture.call('inventory.trust', { name: 'prod', hosts: 'all', fingerprints: [server.fingerprint] });
    await assert.rejects(
      fixture.call('inventory.update', { name: 'prod', ssh_key: 'other' }),
      refusal('invalid_argument', /ssh_key: expected PROJECT\/SECRET, or agent/),
    );
    const socket = await startAgent(t, fixture.dir, server.privateKey);

    const without = await fixture.start({ env: { SSH_AUTH_SOCK: socket } });
    const unnamed = await end(fixture, { privileged: true });
    assert.equal(unnamed.state, 'failed');
    assert.match(unnamed.log, /uses an SSH agent, and the daemon was started without one: svc serve --ssh-agent FILE/);
    await without.stop();

    await fixture.start({ args: ['--ssh-agent', socket] });
    const reached = await end(fixture, { privileged: true });
    assert.deepEqual([reached.state, reached.hosts[0]?.stdout], ['succeeded', 'hello\n'], reached.log);
    // An agent accepts its own account only, which is that of the daemon here.
    if (landlockAbi(openMachine().system) < LANDLOCK_ABI_OF_NAMED_SOCKETS) {
      const sandboxed = await end(fixture, {});
      assert.equal(sandboxed.state, 'failed');
      assert.match(sandboxed.log, /the sandbox of this kernel cannot open the socket .* alone/);
    }
  });
});
