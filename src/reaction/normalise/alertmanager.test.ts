import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalise, refusal } from '../../../test/support/events/payloads.ts';

/** As Alertmanager 0.25 sent it, and what 0.34 adds. */
const GROUP = {
  receiver: 'hook',
  status: 'firing',
  alerts: [
    {
      status: 'resolved',
      labels: { alertname: 'DiskFull', instance: 'db1:9100', severity: 'critical' },
      annotations: { summary: 'Disk of db1 is full' },
      startsAt: '2026-11-21T10:47:56.525405087Z',
      endsAt: '2026-11-21T10:47:58.029Z',
      generatorURL: 'http://prom:9090/graph?g0.expr=x',
      fingerprint: 'efb0c6c488e007da',
    },
    {
      status: 'firing',
      labels: { alertname: 'DiskFull', instance: 'db2:9100', severity: 'page' },
      annotations: {},
      startsAt: '2026-11-21T10:47:56.525405087Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: '',
      fingerprint: 'c0284434a97a2619',
    },
  ],
  notification_reason: 'some alerts resolved',
  groupLabels: { alertname: 'DiskFull' },
  commonLabels: { alertname: 'DiskFull' },
  commonAnnotations: {},
  routeLabels: {},
  externalURL: 'http://vm:19093',
  version: '4',
  groupKey: '{}:{alertname="DiskFull"}',
  truncatedAlerts: 0,
};

test('A group becomes one event for each alert, with status and fingerprint of the alert, not of the group', () => {
  const { events, problems } = normalise('alertmanager', GROUP);
  assert.deepEqual(problems, []);
  assert.deepEqual(events, [
    {
      source: 'alertmanager',
      name: 'DiskFull',
      status: 'resolved',
      severity: 'critical',
      fingerprint: 'efb0c6c488e007da',
      labels: { alertname: 'DiskFull', instance: 'db1:9100', severity: 'critical' },
      annotations: {
        starts_at: '2026-11-21T10:47:56.525405087Z',
        ends_at: '2026-11-21T10:47:58.029Z',
        generator_url: 'http://prom:9090/graph?g0.expr=x',
        summary: 'Disk of db1 is full',
      },
    },
    {
      source: 'alertmanager',
      name: 'DiskFull',
      status: 'firing',
      severity: 'critical',
      fingerprint: 'c0284434a97a2619',
      labels: { alertname: 'DiskFull', instance: 'db2:9100', severity: 'page' },
      annotations: { starts_at: '2026-11-21T10:47:56.525405087Z' },
    },
  ]);
});

test('What an old or a later version leaves out or adds is no reason to lose an alert', () => {
  const { labels, endsAt } = GROUP.alerts[0]!;
  const bare = { labels, endsAt, extra: { deep: [1] } };
  const { events } = normalise('alertmanager', {
    alerts: [bare, { labels: { alertname: 'A' } }],
    version: '5',
    more: [],
  });
  assert.deepEqual(
    events.map(({ name, status }) => [name, status]),
    [
      ['DiskFull', 'resolved'],
      ['A', 'firing'],
    ],
  );
  assert.match(events[0]!.fingerprint, /^[0-9a-f]{16}$/);
  assert.notEqual(events[0]!.fingerprint, events[1]!.fingerprint);
});

test('A custom payload is read as a generic one and keeps its source', () => {
  const { events } = normalise('alertmanager', {
    name: 'DiskFull',
    status: 'firing',
    severity: 'warn',
    labels: { instance: 'db1' },
  });
  assert.deepEqual(
    events.map(({ source, name, status, severity, labels }) => ({ source, name, status, severity, labels })),
    [{ source: 'alertmanager', name: 'DiskFull', status: 'firing', severity: 'warning', labels: { instance: 'db1' } }],
  );
  assert.equal(refusal('alertmanager', { text: 'no name' }), 'name: expected a non-empty text.');
});

test('Alerts left out by the sender are reported, and so is each alert that cannot be read', () => {
  const { events, problems } = normalise('alertmanager', {
    ...GROUP,
    alerts: [null, ...GROUP.alerts, { labels: 'x' }],
    truncatedAlerts: 5,
  });
  assert.equal(events.length, 2);
  assert.deepEqual(problems, [
    'Alert 1 of 4 cannot be read: It is not a JSON object.',
    'Alert 4 of 4 cannot be read: labels: expected an object of texts.',
    'The sender left 5 alerts out of this message (max_alerts).',
  ]);
});

function alerts(length: number): object {
  return { alerts: Array.from({ length }, (_, n) => ({ labels: { n: String(n) } })) };
}

test('A payload has at most 10,000 alerts; one with more is refused whole', () => {
  const { events, problems } = normalise('alertmanager', alerts(10_000));
  assert.deepEqual([events.length, events.at(-1)?.labels['n'], problems], [10_000, '9999', []]);
  assert.equal(refusal('alertmanager', alerts(10_001)), 'The payload has 10001 alerts; expected at most 10000.');
});

test('Invalid JSON, a value that is not an object, and a group without an alert are refused with a sentence', () => {
  assert.equal(refusal('alertmanager', '{"alerts":['), 'The payload is not JSON: line 1, column 12.');
  assert.equal(refusal('alertmanager', '"alerts"'), 'The payload is not a JSON object.');
  assert.equal(refusal('alertmanager', { alerts: [] }), 'The payload has no alert.');
  assert.equal(refusal('alertmanager', { alerts: [7] }), 'Alert 1 of 1 cannot be read: It is not a JSON object.');
});
