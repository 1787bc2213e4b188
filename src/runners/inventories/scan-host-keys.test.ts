import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { startSshServer } from '../../../test/support/inventories/sshd.ts';
import { refusal } from '../../../test/support/refusal.ts';
import { needs } from '../../../test/support/tools.ts';
import { fingerprint } from '../../domain/inventories/host-key.ts';
import { systemClock } from '../../lib/clock.ts';
import { SandboxRefused } from '../launch/errors.ts';
import { createLauncher } from '../launch/launch.ts';
import { DEFAULT_PATH } from '../process/environment.ts';
import { type HostKeyScan, scanHostKeys } from './scan-host-keys.ts';

const HOW: HostKeyScan = { launcher: createLauncher(), clock: systemClock, searchPath: DEFAULT_PATH, account: null };

const refuse = () => Promise.reject(new SandboxRefused('The sandbox needs Landlock.'));

describe('The keys of a host', () => {
  test('are those that its OpenSSH server offers', { skip: needs('ssh', 'sshd', 'Landlock ABI 4') }, async (t) => {
    const server = await startSshServer();
    t.after(() => server.stop());
    const keys = await scanHostKeys(HOW, { address: '127.0.0.1', port: server.port });
    assert.deepEqual(keys.map(fingerprint), [server.fingerprint]);
  });

  test(
    'are refused where nothing answers, or nothing that speaks SSH',
    { skip: needs('ssh', 'Landlock ABI 4') },
    async (t) => {
      const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      t.after(() => server.close());
      await assert.rejects(
        scanHostKeys(HOW, { address: '127.0.0.1', port }),
        refusal('unavailable', /^no key was offered: [^;]+$/),
      );
      await assert.rejects(
        scanHostKeys(HOW, { address: 'nosuch.invalid', port: 22 }),
        refusal('unavailable', /^no key was offered: /),
      );
    },
  );

  test('are not asked for without a sandbox or without the program', { skip: needs('Landlock ABI 4') }, async () => {
    const none = { ...HOW, launcher: { ...HOW.launcher, launch: refuse } };
    await assert.rejects(scanHostKeys(none, { address: '127.0.0.1', port: 1 }), refusal('unavailable', /Landlock/));
    const lost = { ...HOW, searchPath: '/nowhere' };
    await assert.rejects(
      scanHostKeys(lost, { address: '127.0.0.1', port: 1 }),
      refusal('unavailable', /^ssh-keyscan cannot be started: install the OpenSSH client\.$/),
    );
  });
});
