/** Configuration files over the API. */
import assert from 'node:assert/strict';
import type { Scenario } from '../../../support/scenario.ts';

const RULE_FILE = 'rules:\n  - {name: disk, when: "true", action: {notify: hello}}\n';
const CHECK_FILE = 'checks:\n  - {name: web, kind: tcp, interval: 1m, targets: ["a=127.0.0.1:80"]}\n';

export const CONFIGURATION_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'config.diff',
    rule: 'shows what a file would change, and changes nothing',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/config/diff', body: { text: RULE_FILE } },
    expect: { status: 200, kind: 'config.diff', data: { changes: [{ change: 'add', kind: 'rule', name: 'disk' }] } },
    async afterwards({ store }) {
      assert.deepEqual(await store.db.selectFrom('rules').select('name').execute(), []);
    },
  },
  {
    operation: 'config.apply',
    rule: 'of checks is done at once',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/config/apply', body: { text: CHECK_FILE } },
    expect: { status: 200, kind: 'config.applied', data: { changes: [{ change: 'add', kind: 'check', name: 'web' }] } },
  },
  {
    operation: 'config.apply',
    rule: 'of rules waits for another person',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/config/apply', body: { text: RULE_FILE, because: 'OPS-1' } },
    expect: { status: 202, kind: 'approval.pending', data: { state: 'awaiting_approval' } },
    async afterwards({ store }) {
      assert.deepEqual(await store.db.selectFrom('rules').select('name').execute(), []);
    },
  },
  {
    operation: 'config.apply',
    rule: 'names the line of a mistake',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/config/apply', body: { text: 'rules:\n  - {name: disk}\n' } },
    expect: { status: 400, code: 'invalid_argument', message: /line 2/ },
  },
];
