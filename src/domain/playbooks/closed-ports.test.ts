import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closedPorts } from './closed-ports.ts';
import type { HostResult } from './results.ts';

const DENIED = 'Failed to connect to the host via ssh: ssh: connect to host 127.0.0.1 port 2200: Permission denied';
const UNSENT =
  'Data could not be sent to remote host "127.0.0.1". Make sure this host can be reached over ssh: [Errno 32]' +
  ' Datenübergabe unterbrochen (broken pipe)';
const OFF = 'Failed to connect to the host via ssh: ssh: connect to host 127.0.0.1 port 2200: Connection refused';

function result(host: string, message: string | null, unreachable = 1): HostResult {
  const counts = { ok: 0, changed: 0, failures: 0, skipped: 0, rescued: 0, ignored: 0 };
  return { host, ...counts, unreachable, failure: message === null ? null : { task: 0, message }, cells: 'u' };
}

function closed(hosts: HostResult[], open: readonly number[] = [22]): number[] {
  return closedPorts({ hosts }, open);
}

describe('ports that a playbook may not connect to', () => {
  it('names each port once, by the reason of OpenSSH', () => {
    assert.deepEqual(closed([result('web1', DENIED), result('web2', DENIED)]), [2200]);
  });

  it('names no open port, and none of a host that is off, was reached or whose reason Ansible has lost', () => {
    assert.deepEqual(closed([result('web1', DENIED)], [22, 2200]), []);
    assert.deepEqual(closed([result('web1', OFF), result('db1', null), result('db1', UNSENT)]), []);
    assert.deepEqual(closed([result('web1', DENIED, 0)]), []);
  });
});
