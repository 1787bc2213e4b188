import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostOf, mutes } from './mute.ts';

describe('mutes', () => {
  test('a mute of an alert holds the events of exactly that name', () => {
    const target = { kind: 'alert', value: 'DiskFull' } as const;
    assert.equal(mutes(target, { eventName: 'DiskFull', host: null }), true);
    for (const eventName of ['diskfull', 'DiskFull ', 'DiskFullSoon', null])
      assert.equal(mutes(target, { eventName, host: 'DiskFull' }), false);
  });

  test('a mute of a host holds what is about it, however its name is spelt', () => {
    const target = { kind: 'host', value: 'DB1.example.org' } as const;
    assert.equal(mutes(target, { eventName: 'DiskFull', host: 'db1.example.org' }), true);
    for (const host of ['db2.example.org', 'db1', null])
      assert.equal(mutes(target, { eventName: 'DB1.example.org', host }), false);
  });

  test('a global mute holds everything, and a scope without its value nothing', () => {
    assert.equal(mutes({ kind: 'global', value: null }, { eventName: null, host: null }), true);
    assert.equal(mutes({ kind: 'alert', value: null }, { eventName: null, host: null }), false);
    assert.equal(mutes({ kind: 'host', value: null }, { eventName: null, host: null }), false);
  });
});

describe('the host of an event', () => {
  test('is its label host, else its instance without the port', () => {
    const hosts: readonly [Readonly<Record<string, string>>, string | null][] = [
      [{ host: 'db1', instance: 'db2:9100' }, 'db1'],
      [{ host: '', instance: 'db2:9100' }, 'db2'],
      [{ instance: 'db2' }, 'db2'],
      [{ instance: '10.0.0.5:9100' }, '10.0.0.5'],
      [{ instance: '[2001:db8::1]:9100' }, '2001:db8::1'],
      [{ instance: '[2001:db8::1]' }, '2001:db8::1'],
      // It is unknown which of its colons is before a port.
      [{ instance: '2001:db8::1' }, '2001:db8::1'],
      [{ instance: 'https://example.org/health' }, 'https://example.org/health'],
      [{ alertname: 'DiskFull' }, null],
      [{}, null],
    ];
    for (const [labels, host] of hosts) assert.equal(hostOf(labels), host, JSON.stringify(labels));
  });

  test('is no property that every object has', () => {
    assert.equal(hostOf(Object.create({ host: 'inherited' }) as Record<string, string>), null);
  });
});
