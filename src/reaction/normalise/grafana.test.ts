import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalise } from '../../../test/support/events/payloads.ts';

const ALERT = {
  status: 'firing',
  labels: { alertname: 'High latency', grafana_folder: 'web', severity: 'high' },
  annotations: { summary: 'p99 over 2 s', runbook_url: 'https://wiki.example.org/latency' },
  startsAt: '2026-11-21T10:00:00Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'https://grafana.example.org/alerting/grafana/abc/view?orgId=1',
  fingerprint: '57c6d9296de2ad39',
  silenceURL: 'https://grafana.example.org/alerting/silence/new?alertmanager=grafana',
  dashboardURL: 'https://grafana.example.org/d/xyz',
  panelURL: 'https://grafana.example.org/d/xyz?viewPanel=2',
  values: { B: 2.4, C: 1 },
  valueString: "[ var='B' labels={} value=2.4 ]",
  imageURL: 'https://bucket.example.org/1.png?X-Amz-Signature=canary',
  embeddedImage: 'canary'.repeat(1_000),
};
const UNIFIED = {
  receiver: 'svc',
  status: 'firing',
  orgId: 1,
  alerts: [
    ALERT,
    { ...ALERT, status: 'resolved', fingerprint: '1111111111111111', endsAt: '2026-11-21T10:05:00Z', values: null },
  ],
  groupLabels: {},
  commonLabels: {},
  commonAnnotations: {},
  externalURL: 'https://grafana.example.org/',
  appVersion: '12.1.0',
  version: '1',
  groupKey: '{}:{}',
  truncatedAlerts: 0,
  title: '[FIRING:1, RESOLVED:1]',
  state: 'alerting',
  message: 'canary',
};
const LEGACY = {
  evalMatches: [{ value: 100, metric: 'cpu', tags: {} }],
  dashboardId: 1,
  ruleId: 7,
  ruleName: 'CPU',
  ruleUrl: 'http://grafana.example.org/d/1?tab=alert',
  state: 'alerting',
  message: 'CPU is high',
  title: '[Alerting] CPU',
  tags: { team: 'web' },
};

test(
  'Unified alerting becomes one event for each alert, with its own status, its links and its values, and without ' +
    'its picture',
  () => {
    const { events } = normalise('grafana', UNIFIED);
    assert.deepEqual(
      events.map(({ source, name, status, severity, fingerprint }) => [source, name, status, severity, fingerprint]),
      [
        ['grafana', 'High latency', 'firing', 'error', '57c6d9296de2ad39'],
        ['grafana', 'High latency', 'resolved', 'error', '1111111111111111'],
      ],
    );
    assert.equal(events[0]?.annotations['panel_url'], 'https://grafana.example.org/d/xyz?viewPanel=2');
    assert.equal(events[0]?.annotations['value_string'], ALERT.valueString);
    assert.equal(events[0]?.annotations['summary'], 'p99 over 2 s');
    assert.ok(!JSON.stringify(events).includes('canary'));
  },
);

test('The alerting of before Grafana 9 becomes one event of its rule, and its end has the same fingerprint', () => {
  const [firing] = normalise('grafana', LEGACY).events;
  const [ended] = normalise('grafana', { ...LEGACY, state: 'ok', title: '[OK] CPU', evalMatches: null }).events;
  assert.deepEqual([firing?.name, firing?.status, firing?.labels], ['CPU', 'firing', { team: 'web' }]);
  assert.deepEqual([ended?.status, ended?.fingerprint], ['resolved', firing?.fingerprint]);
  assert.equal(normalise('grafana', { ...LEGACY, state: 'no_data' }).events[0]?.status, 'firing');
  assert.equal(normalise('grafana', { ...LEGACY, state: 'paused' }).events[0]?.status, null);
});

test('The output of a custom template is read as a generic payload', () => {
  const { events } = normalise('grafana', {
    title: 'High latency',
    state: 'alerting',
    status: 'alerting',
    labels: { team: 'web' },
  });
  assert.deepEqual(
    events.map(({ source, name, status, labels }) => [source, name, status, labels]),
    [['grafana', 'High latency', 'firing', { team: 'web' }]],
  );
});
