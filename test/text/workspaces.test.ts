import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Display } from '../../src/faces/text/display.ts';
import { render } from '../../src/faces/cli/render.ts';

const AT = '2026-11-21T12:00:00.000Z';
const PAGE: Display = { nowMs: Date.parse(AT), color: false, width: null };
const NET = {
  name: 'net',
  source: null,
  path: '/srv/net',
  serial: 4,
  drift: 'drifted',
  drift_checked_at: '2026-11-21T11:00:00.000Z',
  last_plan_job_id: null,
  last_apply_job_id: null,
  locked_by: null,
};

test('a workspace shows its serial, its drift and the place of its files', () => {
  const data = [
    NET,
    { ...NET, name: 'dns', source: 'infra', path: 'roots/dns', serial: null, drift: 'unknown', drift_checked_at: null },
  ];
  const [, net, dns] = render('workspace.list', data, PAGE).split('\n');
  assert.match(net ?? '', /^net +4 +drifted, 1h ago +- +- +- +\/srv\/net$/);
  assert.match(dns ?? '', /^dns +- +unknown +- +- +- +source infra, roots\/dns$/);
});

test('the policy of a workspace is shown in words, the default too', () => {
  const policy = {
    approve_when: null,
    deny_when: 'size(plan.destroys) > 10',
    require_saved_plan: true,
    protect_destroy: false,
  };
  const inputs = { vars: ['zone'], var_files: ['net.tfvars'], run_secrets: ['token'] };
  const text = render('workspace.get', { ...NET, policy, inputs }, PAGE);
  assert.match(text, /^Variables +zone, net\.tfvars\nSecrets +token$/m);
  assert.match(text, /^Needs approval +a saved plan that destroys or replaces anything \(the default\)$/m);
  assert.match(text, /^Needs none +plan, drift, every other saved plan, a destroy of everything$/m);
  assert.match(
    text,
    /^Refused +a saved plan where size\(plan\.destroys\) > 10, an apply without a saved plan \(require_saved_plan\)$/m,
  );
});

test('a state that was set aside says so', () => {
  const states = [
    { version: -1, serial: 3, resources: 2, job_id: null, created_at: AT },
    { version: 2, serial: 4, resources: 2, job_id: 'job_1', created_at: AT },
  ];
  assert.match(render('workspace.state', states, PAGE), /^-1 \(set aside\) +3 +2 +- +now\n2 +4 +2 +job_1 +now$/m);
});

test('a source, its hooks, a secret and the seal are shown in words', () => {
  const source = {
    name: 'ops',
    kind: 'git',
    ref: null,
    commit: '0123456789abcdef0123456789abcdef01234567',
    synced_at: AT,
  };
  assert.match(render('source.list', [source], PAGE), /^ops +git +- +0123456789ab +now$/m);
  assert.match(render('source.get', source, PAGE), /^Ref +the default branch$/m);
  assert.equal(
    render('hooks.show', { source: 'ops', file: null, hooks: [] }, PAGE),
    'Source ops declares no lifecycle hooks.\n',
  );
  assert.match(
    render('hooks.show', { source: 'ops', file: 'hooks.yml', hooks: ['before\n  after'] }, PAGE),
    /They never run\.\n {2}before\\n {2}after\n$/,
  );
  assert.match(
    render('secret.list', [{ project: 'net', name: 'token', version: 2, created_at: AT, updated_at: AT }], PAGE),
    /^net\/token +2 +now +now$/m,
  );
  const seal = { key_id: null, algorithm: 'AES-256-GCM', created_at: null, sealed_items: 3, state: 'foreign' };
  assert.match(
    render('seal.status', seal, PAGE),
    /^State +foreign: some values are sealed with a key that is not in the key file$/m,
  );
});
