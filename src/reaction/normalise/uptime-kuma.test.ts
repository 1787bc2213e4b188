import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalise, refusal } from '../../../test/support/events/payloads.ts';

const HEARTBEAT = {
  monitorID: 7,
  status: 0,
  time: '2026-11-21 14:04:20.123',
  msg: 'connect ECONNREFUSED',
  ping: null,
  important: true,
  duration: 60,
  retries: 0,
  timezone: 'Europe/Berlin',
  timezoneOffset: '+01:00',
  localDateTime: '2026-11-21 15:04:20',
};
const MONITOR = {
  id: 7,
  name: 'shop',
  pathName: 'web / shop',
  url: 'https://probe:canary@shop.example.org/health?api_key=canary&full=1',
  hostname: null,
  port: null,
  type: 'http',
  interval: 60,
  tags: [
    { name: 'team', value: 'web', color: '#fff' },
    { name: 'monitor_id', value: '99' },
    { name: 'severity', value: 'crit' },
  ],
  headers: '{"authorization":"canary"}',
  basic_auth_pass: 'canary',
  pushToken: 'canary',
  databaseConnectionString: 'postgres://u:canary@db/x',
  includeSensitiveData: true,
};
/** The labels of a monitor without tags. */
function target(monitor: object): unknown {
  return normalise('uptime-kuma', { ...DOWN, monitor: { ...MONITOR, tags: [], ...monitor } }).events[0]?.labels;
}

const DOWN = { heartbeat: HEARTBEAT, monitor: MONITOR, msg: '[shop] [🔴 Down] connect ECONNREFUSED' };

test('A heartbeat becomes an event of its monitor, with four of its hundred fields and no credential', () => {
  const { events } = normalise('uptime-kuma', DOWN);
  assert.deepEqual(
    events.map((event) => ({ ...event, fingerprint: '' })),
    [
      {
        source: 'uptime-kuma',
        name: 'shop',
        status: 'firing',
        severity: 'critical',
        fingerprint: '',
        labels: {
          team: 'web',
          monitor_id: '7',
          severity: 'crit',
          type: 'http',
          target: 'https://shop.example.org/health?api_key=[removed]&full=1',
        },
        annotations: {
          message: '[shop] [🔴 Down] connect ECONNREFUSED',
          detail: 'connect ECONNREFUSED',
          state: 'down',
          path: 'web / shop',
          at: '2026-11-21T14:04:20.123Z',
        },
      },
    ],
  );
  assert.ok(!JSON.stringify(events).includes('canary'));
});

test('Up ends what down began; pending and maintenance are neither', () => {
  const events = [0, 1, 2, 3, 9].map(
    (status) => normalise('uptime-kuma', { ...DOWN, heartbeat: { ...HEARTBEAT, status } }).events[0],
  );
  assert.deepEqual(
    events.map((event) => event?.status),
    ['firing', 'resolved', null, null, null],
  );
  assert.equal(new Set(events.map((event) => event?.fingerprint)).size, 1);
});

test('A form with the field data and a GET with the parts in its query are the same event', () => {
  const json = JSON.stringify(DOWN);
  const form =
    `--xyz\r\nContent-Disposition: form-data; name="other"\r\n\r\n1\r\n--xyz\r\nContent-Disposition: form-data; ` +
    `name="data"\r\n\r\n${json}\r\n--xyz--\r\n`;
  const query = new URLSearchParams({
    msg: DOWN.msg,
    heartbeat: JSON.stringify(HEARTBEAT),
    monitor: JSON.stringify(MONITOR),
  }).toString();
  const plain = normalise('uptime-kuma', DOWN);
  assert.deepEqual(normalise('uptime-kuma', form, { contentType: 'multipart/form-data; boundary=xyz' }), plain);
  assert.deepEqual(normalise('uptime-kuma', form, { contentType: 'multipart/form-data; boundary="xyz"' }), plain);
  assert.deepEqual(normalise('uptime-kuma', undefined, { query }), plain);
});

test('A test and a notice about a certificate have no status', () => {
  const certificate = '[shop][https://shop.example.org] tls certificate shop.example.org will expire in 7 days';
  for (const body of [{ heartbeat: null, monitor: null, msg: certificate }, { msg: certificate }]) {
    const [event] = normalise('uptime-kuma', body).events;
    assert.deepEqual(
      [event?.name, event?.status, event?.severity, event?.annotations],
      ['', null, 'info', { message: certificate }],
    );
  }
  const query = new URLSearchParams({ msg: 'Testing', heartbeat: 'null', monitor: 'null' }).toString();
  assert.equal(normalise('uptime-kuma', undefined, { query }).events[0]?.severity, 'info');
});

test('A monitor of a port or a ping is named by host and port', () => {
  assert.deepEqual(target({ type: 'port', hostname: 'db1', port: 5432, url: 'https://' }), {
    monitor_id: '7',
    type: 'port',
    target: 'db1:5432',
  });
  assert.deepEqual(target({ type: 'ping', hostname: 'db1', url: 'https://' }), {
    monitor_id: '7',
    type: 'ping',
    target: 'db1',
  });
  assert.deepEqual(target({ type: 'docker', url: 'https://' }), { monitor_id: '7', type: 'docker' });
});

test('The output of its templates is read as a generic payload', () => {
  const [event] = normalise('uptime-kuma', {
    name: 'shop',
    status: '🔴 Down',
    hostnameOrURL: 'https://shop.example.org',
    msg: 'gone',
  }).events;
  assert.deepEqual(
    [event?.name, event?.status, event?.labels, event?.annotations],
    ['shop', 'firing', { target: 'https://shop.example.org' }, { message: 'gone' }],
  );
  assert.equal(normalise('uptime-kuma', { NAME: 'shop', STATUS: '✅ Up' }).events[0]?.status, 'resolved');
});

test('A query whose part is not JSON, and a form without the field, are refused', () => {
  assert.equal(refusal('uptime-kuma', undefined, { query: 'heartbeat=%7B' }), 'The payload is not JSON.');
  assert.equal(
    refusal('uptime-kuma', '--x\r\n\r\n--x--', { contentType: 'multipart/form-data; boundary=x' }),
    'The payload is not JSON.',
  );
});
