import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Display } from '../../src/faces/text/display.ts';
import { render } from '../../src/faces/cli/render.ts';

const PAGE: Display = { nowMs: Date.parse('2026-11-21T12:00:00.000Z'), color: false, width: null };
const LISTED = {
  name: 'disk',
  enabled: true,
  when: 'true',
  cooldown: null,
  approval: 'none',
  action: { kind: 'notify' },
  last_fired_at: null,
};
const RULE = {
  ...LISTED,
  approval_ttl: null,
  added_by: 'ana',
  created_at: '2026-11-21T11:00:00.000Z',
  updated_at: '2026-11-21T11:00:00.000Z',
};
const SILENCED = { silenced_until: '2026-11-21T14:00:00.000Z', silence_id: 'sil_1' };

test('a silenced rule shows its silence and the end of it, in the list and alone', () => {
  assert.match(
    render('rule.get', { ...RULE, ...SILENCED }, PAGE),
    /^State +enabled\nSilenced +until 2026-11-21T14:00:00\.000Z \(in 2h\), by sil_1\n/m,
  );
  assert.doesNotMatch(render('rule.get', RULE, PAGE), /ilence/);
  const [, ...rows] = render(
    'rule.list',
    [LISTED, { ...LISTED, ...SILENCED }, { ...LISTED, ...SILENCED, enabled: false }],
    PAGE,
  ).split('\n');
  assert.deepEqual(
    rows.map((row) => row.replace(/^disk +(.*?) +notify.*$/, '$1')),
    ['enabled', 'enabled, silenced (ends in 2h)', 'disabled, silenced (ends in 2h)', ''],
  );
});

test('a removed rule has no state', () => {
  assert.match(render('rule.get', { ...RULE, ended_silences: [] }, PAGE), /^Rule +disk\nWhen /);
});

test('a removed rule names the silences that ended with it', () => {
  assert.match(render('rule.get', { ...RULE, ended_silences: ['sil_1'] }, PAGE), /^Also ended +its silence sil_1\n/m);
  assert.match(
    render('rule.get', { ...RULE, ended_silences: ['sil_1', 'sil_2'] }, PAGE),
    /^Also ended +its silences sil_1, sil_2\n/m,
  );
});

/** The line of a rule whose jobs have this reach. */
const shown = (reach: object | undefined): string | undefined =>
  /^Sandbox +(.*)$/m.exec(render('rule.get', { ...RULE, reach }, PAGE))?.[1];

test('a rule says what the sandbox refuses to its jobs', () => {
  assert.equal(shown(undefined), undefined);
  assert.equal(
    shown({ egress_ports: [], privileged: false, writable: [] }),
    'connects only to TCP ports 22 and the SSH ports of its hosts; writes only the directory of the job',
  );
  assert.equal(
    shown({ egress_ports: [443, 8443], privileged: false, writable: ['/srv/cache'] }),
    'connects only to TCP ports 22, 443, 8443 and the SSH ports of its hosts; ' +
      'writes only the directory of the job, /srv/cache',
  );
  assert.equal(shown({ egress_ports: [], privileged: true, writable: [] }), 'none: its jobs are privileged');
});
