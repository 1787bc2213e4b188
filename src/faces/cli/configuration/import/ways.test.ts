/** What decides which target is probed, how often and by which way is kept, or the check is left out. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { IMPORTERS } from './importers.ts';

async function imported(from: string, value: unknown) {
  const { checks, schedules, notes } = await (IMPORTERS[from] ?? assert.fail())(
    typeof value === 'string' ? value : JSON.stringify(value),
    0,
  );
  return { checks: Object.fromEntries(checks), schedules: Object.fromEntries(schedules), notes };
}

describe('A check', () => {
  test('is left out where its probe came by another way, at other times, or from a variable', async () => {
    const endpoint = { name: 'a', url: 'https://example.org/' };
    for (const [fields, why] of [
      [{ client: { 'proxy-url': 'http://192.0.2.1' } }, 'a check has no proxy-url'],
      [{ client: { tunnel: 'bastion' } }, 'a check has no tunnel'],
      [{ client: { 'dns-resolver': 'tcp://192.0.2.1:53' } }, 'a check has no dns-resolver'],
      [{ interval: '2d' }, 'interval: expected at least 1s and at most 1d'],
      [{ url: 'https://${HOST}/' }, 'it has a variable of the environment'],
      [{ conditions: ['[BODY] == pat(*$WORD*)'] }, 'it has a variable of the environment'],
    ] as const) {
      const { checks, notes } = await imported('gatus', { endpoints: [{ ...endpoint, ...fields }] });
      assert.deepEqual(checks, {}, why);
      assert.ok(notes[0]?.startsWith(`Left out: a (endpoint 1): ${why}`), why);
    }
    const monitor = { name: 'a', type: 'http', url: 'https://example.org/', proxyId: 1 };
    const { notes } = await imported('uptime-kuma', { monitorList: [monitor] });
    assert.match(notes[0] ?? '', /^Left out: a \(monitor 1\): a check has no proxy/);
  });

  test('of DNS is left out where it asks its own name server, or for another record than an address', async () => {
    const ofServer = 'it asks the name server "8.8.8.8"; a check asks only those of the system';
    const ofType = 'it asks for a DNS record of type "MX"; a check asks only for an address';
    for (const [server, type, why] of [
      ['8.8.8.8', 'A', ofServer],
      ['8.8.8.8', 'MX', ofServer],
      ['', 'MX', ofType],
      ['', 'A', null],
      ['', 'AAAA', null],
    ] as const) {
      const dns = { 'query-name': 'example.org', 'query-type': type };
      const gatus = await imported('gatus', { endpoints: [{ name: 'zone', url: server, dns }] });
      const monitor = { name: 'zone', type: 'dns', hostname: 'example.org' };
      const fields = { dns_resolve_server: server, dns_resolve_type: type };
      const kuma = await imported('uptime-kuma', { monitorList: [{ ...monitor, ...fields }] });
      for (const [{ checks, notes }, place] of [
        [gatus, 'endpoint 1'],
        [kuma, 'monitor 1'],
      ] as const) {
        assert.deepEqual(Object.keys(checks), why === null ? ['zone'] : []);
        const noted = type === 'AAAA' ? ['zone: it looks for an address instead of a record of type AAAA.'] : [];
        assert.deepEqual(notes, why === null ? noted : [`Left out: zone (${place}): ${why}.`]);
      }
    }
  });

  test('is disabled where the other program has it disabled, in each of its spellings', async () => {
    const endpoints = ['no', 'off', 'False', false].map((enabled) => ({
      name: 'a',
      url: 'tcp://192.0.2.1:1',
      enabled,
    }));
    const base = { name: 'a', type: 'ping', hostname: '192.0.2.1' };
    const monitorList = [{ active: 0 }, { active: false }, { active: true, forceInactive: true }].map((each) => ({
      ...base,
      ...each,
    }));
    for (const { checks } of [await imported('gatus', { endpoints }), await imported('uptime-kuma', { monitorList })])
      for (const each of Object.values(checks)) assert.equal(each['enabled'], false);
  });

  test('of Gatus has the fields of its anchors and merge keys', async () => {
    const text =
      'x: &base {interval: 5m, conditions: &ok ["[STATUS] == 200"]}\n' +
      'endpoints:\n- {<<: *base, name: a, url: "https://a.example.org/"}\n' +
      '- {name: b, url: "https://b.example.org/", conditions: *ok}\n';
    const { checks, notes } = await imported('gatus', text);
    assert.deepEqual(
      Object.values(checks).map((each) => [each['interval'], each['expect']]),
      [
        ['5m', 200],
        ['1m', 200],
      ],
    );
    assert.deepEqual(notes, ['file: field left out: x.']);
  });
});

test('A line of a crontab with an option of cron is left out, and TZ is a variable of its commands', async () => {
  const { schedules, notes } = await imported('crontab', 'TZ=Europe/Berlin\n0 1 * * * -n a\n0 2 * * * b\n');
  assert.deepEqual(Object.keys(schedules), ['b']);
  assert.equal(schedules['b']?.['timezone'], undefined);
  assert.deepEqual(schedules['b']?.['command'], ['env', 'TZ=Europe/Berlin', 'b']);
  assert.deepEqual(notes.slice(0, 1), ['Left out: line 2: its command begins with an option of cron.']);
});
