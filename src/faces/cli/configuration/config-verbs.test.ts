/** The verbs of configuration files on the command line. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { CRONTAB } from '../../../../test/support/configuration/exports.ts';
import { startProgram } from '../../../../test/support/program.ts';
import { appOf, svc } from '../../../../test/support/terminal.ts';

function fileWith(t: TestContext, text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-config-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'file'), text);
  return join(dir, 'file');
}

test('point 39: svc config diff exits with 2 for a difference, 0 without one, and 1 for a mistake', async (t) => {
  const app = appOf(await startProgram(t));
  const file = fileWith(t, 'set: ops\nnetgroups:\n  - {name: dc, prefixes: [10.0.0.0/8]}\n');
  const before = await svc(['config', 'diff', '--file', file], { app });
  assert.deepEqual(
    [before.exitCode, before.stdout],
    [2, '+ netgroup dc\n1 to add, 0 to change, 0 to remove; 0 as in the file.\n'],
  );
  assert.equal((await svc(['config', 'diff', '--file', file, '--output', 'json'], { app })).exitCode, 2);
  const applied = await svc(['config', 'apply', '--file', file], { app });
  assert.deepEqual(
    [applied.exitCode, applied.stdout],
    [0, '+ netgroup dc\n1 added, 0 changed, 0 removed; 0 as in the file.\n'],
  );
  const after = await svc(['config', 'diff', '--file', file], { app });
  assert.deepEqual([after.exitCode, after.stdout], [0, 'No differences.\n']);
  const exported = await svc(['config', 'export'], { app });
  const same = await svc(['config', 'diff', '--file', fileWith(t, exported.stdout)], { app });
  assert.deepEqual([same.exitCode, same.stdout], [0, 'No differences.\n']);
  const placed = fileWith(
    t,
    'set: ops\nsources:\n  - {name: site, dir: site}\nworkspaces:\n  - {name: net, dir: ../net}\n',
  );
  mkdirSync(join(dirname(placed), 'site'));
  assert.equal((await svc(['config', 'apply', '--file', placed], { app })).exitCode, 0);
  const written = (await svc(['config', 'export'], { app })).stdout;
  assert.match(written, new RegExp(`dir: ${dirname(placed)}/site$`, 'm'), 'relative to the file');
  assert.match(written, new RegExp(`dir: ${join(dirname(placed), '../net')}$`, 'm'), 'relative to the file');
  const wrong = await svc(['config', 'diff', '--file', fileWith(t, 'netgroups: [{name: dc}]\n')], { app });
  assert.deepEqual([wrong.exitCode, wrong.stdout], [1, '']);
  assert.match(wrong.stderr, /^Error: netgroups\.dc \(line 1, column 13\): prefixes: /);
});

test('svc config apply --prune needs a yes', async (t) => {
  const app = appOf(await startProgram(t));
  const file = fileWith(t, 'set: ops\n');
  const refused = await svc(['config', 'apply', '--file', file, '--prune'], { app });
  assert.equal(refused.exitCode, 1);
  assert.match(refused.stderr, /needs a confirmation; use --yes/);
  const applied = await svc(['config', 'apply', '--file', file, '--prune', '--yes'], { app });
  assert.deepEqual([applied.exitCode, applied.stdout], [0, 'Nothing to do.\n']);
});

test('svc config import prints a file that svc config diff reads, and its report on standard error', async (t) => {
  const missing = await svc(['config', 'import', 'crontab', '/proc/nonexistent']);
  assert.match(missing.stderr, /^Error: FILE: \/proc\/nonexistent does not exist\.$/m);
  const app = appOf(await startProgram(t));
  const ran = await svc(['config', 'import', 'crontab', fileWith(t, CRONTAB)]);
  assert.equal(ran.exitCode, 0);
  assert.match(ran.stderr, /^Left out: line 7: @reboot\.$/m);
  const diff = await svc(['config', 'diff', '--file', fileWith(t, ran.stdout)], { app });
  assert.deepEqual([diff.exitCode, diff.stdout.split('\n').slice(0, 2)], [2, ['+ schedule cd', '+ schedule tidy']]);
  const unknown = await svc(['config', 'import', 'nagios', fileWith(t, '')]);
  assert.equal(unknown.exitCode, 1);
  assert.match(unknown.stderr, /uptime-kuma/);
});

test('svc config schema prints a JSON Schema without a store', async () => {
  const { exitCode, stdout } = await svc(['config', 'schema']);
  assert.equal(exitCode, 0);
  const { properties } = JSON.parse(stdout) as { properties: object };
  assert.ok('checks' in properties && 'set' in properties);
});
