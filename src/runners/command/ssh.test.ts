import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HostOutput } from './host-output.ts';
import { sshWords, unreachableReason } from './ssh.ts';

const FILES = { key: '/run/key', agent: null, knownHosts: '/run/known', log: '/run/log' };

describe('ssh', () => {
  test('T14: is given no configuration, agent, proxy or new host key, and the address after --', () => {
    const connection = { host: 'Web1', address: '192.0.2.7', port: 2222, user: 'deploy', kind: 'ssh' } as const;
    const words = sshWords(connection, FILES, ['df', '-h']);
    assert.deepEqual(words.slice(0, 5), ['ssh', '-F', '/dev/null', '-E', '/run/log']);
    assert.deepEqual(words.slice(-4), ['--', '192.0.2.7', "'df'", "'-h'"]);
    for (const option of [
      'BatchMode=yes',
      'StrictHostKeyChecking=yes',
      'UserKnownHostsFile=/run/known',
      'GlobalKnownHostsFile=/dev/null',
      'IdentityFile=/run/key',
      'IdentitiesOnly=yes',
      'IdentityAgent=none',
      'ForwardAgent=no',
      'ControlMaster=no',
      'ProxyCommand=none',
      'HostKeyAlias=web1',
      'Port=2222',
      'User=deploy',
    ])
      assert.equal(words[words.indexOf(option) - 1], '-o', option);
    assert.ok(sshWords({ ...connection, user: null }, FILES, ['df']).every((word) => !word.startsWith('User=')));
  });

  test('uses the keys of the named agent in place of a file', () => {
    const connection = { host: 'web1', address: '192.0.2.7', port: 22, user: null, kind: 'ssh' } as const;
    const words = sshWords(connection, { ...FILES, key: null, agent: '/run/agent' }, ['df']);
    assert.deepEqual(
      words.filter((word) => word.startsWith('Identit')),
      ['IdentitiesOnly=no', 'IdentityAgent=/run/agent', 'IdentityFile=none'],
    );
  });

  test('says why a host was not reached, without paths of the run', () => {
    assert.equal(unreachableReason('', '/run'), null);
    assert.equal(unreachableReason('\r\n', '/run'), null);
    assert.equal(unreachableReason('a\r\nLoad key "/run/key": bad\r\n', '/run'), 'Load key "/key": bad');
    assert.match(
      unreachableReason(
        '@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n',
        '/run',
      ) ?? '',
      /^its host key has changed/,
    );
    assert.equal(
      unreachableReason('No key is known.\nHost key verification failed.\n', '/run'),
      'its host key was not accepted',
    );
  });
});

test('The output of a host has its name before each line, and is kept up to the bound', () => {
  const output = new HostOutput('web1', 8);
  const shown = ['ab', 'c\nd', '\n', '\n', 'efghijkl'].map((text) => output.sifts.stdout.push(Buffer.from(text)));
  assert.equal(Buffer.concat(shown).toString(), 'web1: abc\nweb1: d\nweb1: \nweb1: efghijkl');
  assert.match(output.stdout, /^abc\nd\n\ne\n\[The result is cut here/);
  output.sifts.stderr.push(Buffer.from('a\0b'));
  assert.equal(output.stderr, 'a\u{FFFD}b');
});
