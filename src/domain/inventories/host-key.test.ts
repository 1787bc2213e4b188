import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fingerprint, isFingerprint, knownHosts, readHostKey } from './host-key.ts';

const TEXT = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIfVjmd9xbLJVgNJbBl6p2zVYcMMVrPQ7LcVQhSTyHyO';

describe('The key of a host', () => {
  test('is a type and a key that says the same type', () => {
    const key = readHostKey(TEXT);
    assert.ok(key !== null && isFingerprint(fingerprint(key)));
    for (const text of [
      '',
      'ssh-ed25519',
      TEXT.replace('ssh-ed25519', 'ssh-rsa'),
      TEXT.replace('ssh-ed25519', 'ssh-dss'),
      `${TEXT} comment`,
      `@cert-authority ${TEXT}`,
      `web1 ${TEXT}`,
      'ssh-ed25519 AAAA',
      `${TEXT}\nweb2 ${TEXT}`,
    ])
      assert.equal(readHostKey(text), null, text);
  });

  test('is written under the name of the host and under its address and port', () => {
    const key = readHostKey(TEXT) ?? assert.fail();
    const hosts = [
      { host: 'Web1', address: '192.0.2.7', port: 2222 },
      { host: 'web2', address: 'web2', port: 22 },
      { host: 'web3', address: 'web3', port: 22 },
    ];
    const keys = new Map(['Web1', 'web2'].map((host) => [host, [key]]));
    assert.equal(knownHosts(hosts, keys), `web1,[192.0.2.7]:2222 ${TEXT}\nweb2 ${TEXT}\n`);
  });
});
