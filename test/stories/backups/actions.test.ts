/** Backups that a rule and a schedule ask for, by a real daemon. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '../../support/api-client.ts';
import { openBackupFixture, verb } from '../../support/backups/backup-fixture.ts';

const RULE = `when: event.source == "job-outcome" && event.labels.kind == "command"
action:
  backup: "after-\${event.labels.kind}"
`;

test('a rule makes a backup, whose name an event fills in', async (t) => {
  const on = await openBackupFixture(t);
  await on.fixture.call('rule.add', { name: 'keep', text: RULE });
  await on.fixture.serve(on.flags);
  await on.fixture.queue({ command: ['/bin/true'] });
  const [file] = await until('the backup is there', () => {
    const files = readdirSync(on.folder).filter((name) => !name.startsWith('.'));
    return files.length === 1 ? files : undefined;
  });
  assert.match(file ?? '', /^after-command-/);
  const { stdout } = await verb(on, 'rule', 'list');
  assert.match(stdout, /"action":\{"kind":"backup","backup":"after-\$\{event\.labels\.kind\}","timeout":null\}/);
  const shown = await verb(on, 'rule', 'export', 'keep');
  assert.match(shown.stdout, /backup: /);
});

test('a schedule takes a backup by its name, and nothing else with it', async (t) => {
  const on = await openBackupFixture(t);
  const add = ['schedule', 'add', 'nightly', '--cron', '0 3 * * *', '--backup', 'nightly'];
  const added = await verb(on, ...add);
  assert.equal(added.exitCode, 0, added.stdout);
  assert.match(added.stdout, /"runbook":"backup:nightly".*"action":\{"kind":"backup","backup":"nightly"/);
  const both = await verb(on, ...add.with(2, 'other'), '--plan', 'net');
  assert.equal(both.exitCode, 1);
  assert.match(both.stdout, /backup: expected exactly one of them/);
  const wrong = await verb(on, ...add.slice(0, -1), '../up');
  assert.equal(wrong.exitCode, 1);
  assert.match(wrong.stdout, /"code":"invalid_argument"/);
});
