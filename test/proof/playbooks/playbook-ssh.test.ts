/** A playbook on the hosts of an inventory: the real daemon, ansible-playbook, ssh and OpenSSH server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { writeTree } from '../../support/ansible/bare-run.ts';
import { startSshServer } from '../../support/inventories/sshd.ts';
import { needs } from '../../support/tools.ts';

const ENDED = ['succeeded', 'degraded', 'failed', 'cancelled', 'interrupted'];
const SITE = '- hosts: all\n  gather_facts: false\n  tasks:\n    - command: uname -n\n';

async function logOf(fixture: Fixture, id: string): Promise<string> {
  const events = await fixture.events(id);
  return events.flatMap((event) => (event.type === 'log' ? [event.text] : [])).join('\n');
}

test(
  'A playbook reaches hosts with the key that is stored for the inventory; an offline host makes it degraded',
  { skip: needs('ansible-playbook', 'ssh', 'sshd') },
  async (t) => {
    const server = await startSshServer();
    t.after(() => server.stop());
    const fixture = await openFixture(t);
    writeTree(fixture.dir, { 'ops/site.yml': SITE });
    await fixture.call('source.add', { name: 'ops', dir: `${fixture.dir}/ops` });
    // As the command line stores it: without the end of the last line.
    await fixture.call('secret.set', { secret: 'ops/key', value: server.privateKey.trimEnd() });
    const web = `web1 ansible_host=127.0.0.1 ansible_port=${server.port} ansible_user=${server.user}\n`;
    const text = `[web]\n${web}down ansible_host=127.0.0.1 ansible_port=9\n`;
    await fixture.call('inventory.add', { name: 'lab', text, ssh_key: 'ops/key' });
    await fixture.call('inventory.trust', { name: 'lab', hosts: 'web1', fingerprints: [server.fingerprint] });
    await fixture.start();
    const order = { playbook: 'site.yml', source: 'ops', inventory: 'lab', tolerate_unreachable: true };
    const { job_id: id } = await fixture.call<{ job_id: string }>('playbook.run', order);
    const { state, exit_code: exitCode } = await fixture.waitFor(id, ENDED, 60_000);
    const log = await logOf(fixture, id);
    assert.deepEqual([state, exitCode], ['degraded', 4], log);
    assert.match(log, /web1 +: ok=1 +changed=1 +unreachable=0/);
  },
);
