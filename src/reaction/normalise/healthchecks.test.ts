import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalise, refusal } from '../../../test/support/events/payloads.ts';

const SIMPLE = {
  source: 'healthchecks',
  status: 'down',
  name: 'nightly "backup"',
  slug: 'nightly-backup',
  tags: 'prod db',
  at: '2026-11-21T10:00:00+00:00',
  exit: -1,
};
const CHECK = {
  name: 'Nightly backup',
  slug: 'nightly-backup',
  tags: 'prod db',
  desc: 'dumps every database',
  grace: 600,
  n_pings: 12,
  status: 'down',
  started: false,
  last_ping: '2026-11-20T10:00:00+00:00',
  next_ping: null,
  manual_resume: false,
  methods: '',
  badge_url: 'https://hc.example.org/b/2/canary.svg',
  uuid: 'canary-3c8d-4d3c-9a2e-1f2e3d4c5b6a',
  ping_url: 'https://hc.example.org/ping/canary-3c8d',
  update_url: 'https://hc.example.org/api/v3/checks/canary',
  pause_url: 'https://hc.example.org/api/v3/checks/canary/pause',
  resume_url: 'https://hc.example.org/api/v3/checks/canary/resume',
  channels: 'canary',
  timeout: 3600,
};

test('The published body becomes an event, and its end has the same fingerprint', () => {
  const [down] = normalise('healthchecks', SIMPLE).events;
  const [up] = normalise('healthchecks', { ...SIMPLE, status: 'up', exit: 0 }).events;
  assert.deepEqual(
    { ...down, fingerprint: '' },
    {
      source: 'healthchecks',
      name: 'nightly "backup"',
      status: 'firing',
      severity: null,
      fingerprint: '',
      labels: { slug: 'nightly-backup', tags: 'prod db' },
      annotations: { at: '2026-11-21T10:00:00+00:00', exit: '-1' },
    },
  );
  assert.deepEqual([up?.status, up?.fingerprint], ['resolved', down?.fingerprint]);
});

test('The whole check is read without its URLs, its code and its channels, which act as credentials', () => {
  const { events } = normalise('healthchecks', CHECK);
  assert.deepEqual(
    events.map(({ name, status, labels, annotations }) => ({ name, status, labels, annotations })),
    [
      {
        name: 'Nightly backup',
        status: 'firing',
        labels: { slug: 'nightly-backup', tags: 'prod db' },
        annotations: { description: 'dumps every database', last_ping: '2026-11-20T10:00:00+00:00' },
      },
    ],
  );
  assert.ok(!JSON.stringify(events).includes('canary'));
});

test('Variables in the query of a GET, or in a form, are enough', () => {
  const query = 'status=up&name=nightly&slug=nightly-backup';
  assert.deepEqual(
    normalise('healthchecks', undefined, { query }).events.map(({ name, status }) => [name, status]),
    [['nightly', 'resolved']],
  );
  assert.deepEqual(
    normalise('healthchecks', query, { contentType: 'application/x-www-form-urlencoded' }),
    normalise('healthchecks', undefined, { query }),
  );
});

test('A check that is new or paused is neither down nor up', () => {
  const [event] = normalise('healthchecks', { ...CHECK, status: 'paused' }).events;
  assert.deepEqual([event?.status, event?.annotations['status']], [null, 'paused']);
});

test('Without a name and a slug it is refused', () => {
  assert.equal(refusal('healthchecks', { status: 'down' }), 'name: expected a non-empty text.');
  assert.equal(refusal('healthchecks', undefined), 'name: expected a non-empty text.');
});
