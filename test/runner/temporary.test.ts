import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { text } from 'node:stream/consumers';
import { until } from '../support/api-client.ts';

const RUNNER = join(import.meta.dirname, '..', '..', 'scripts', 'tests', 'main.ts');

/** Leaves a file in a closed folder, and does not end. */
const HANGS = `import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
test('hangs', async () => {
  const folder = mkdtempSync(tmpdir() + '/left-');
  writeFileSync(folder + '/file', '');
  chmodSync(folder, 0o500);
  writeFileSync(process.env.GATEHOUSE_TEST_READY, '');
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
`;

for (const signals of [['SIGINT'], ['SIGTERM', 'SIGTERM']] as const)
  test(`What tests leave in TMPDIR is removed after ${signals.join(' and ')}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-runner-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const [temporary, file, ready] = ['tmp', 'hangs.test.ts', 'ready'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(temporary);
    for (const each of [folder, temporary]) chmodSync(each, 0o755);
    writeFileSync(file, HANGS);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const runner = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', RUNNER, '--on-sources', file], {
      env: { ...env, TMPDIR: temporary, GATEHOUSE_TEST_READY: ready },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.after(() => runner.kill('SIGKILL'));
    const output = Promise.all([text(runner.stdout), text(runner.stderr)]);
    const exited = once(runner, 'exit');
    await until('the test runs', () => readdirSync(folder).includes('ready'));
    for (const signal of signals) runner.kill(signal);
    await exited;
    assert.deepEqual(readdirSync(temporary), [], (await output).join(''));
  });
