/** Some simulated nights: each seed is the same twice and breaks no rule, and a hidden row is noticed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { needs } from '../support/tools.ts';

const run = promisify(execFile);
const MAIN = join(import.meta.dirname, 'main.ts');
const PLANS = join(import.meta.dirname, 'plans');
const ROOT = join(import.meta.dirname, '..', '..');
const LIMIT_MS = 300_000;

async function simulate(
  options: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ code: number; output: string }> {
  try {
    const { stdout } = await run(process.execPath, [...process.execArgv, MAIN, ...options], { env, timeout: LIMIT_MS });
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string };
    return { code: code ?? -1, output: stdout + stderr };
  }
}

const hashOf = (output: string): string => /hash of all: ([0-9a-f]{16})/.exec(output)?.[1] ?? assert.fail(output);

test('Seeds of the simulation break no rule, and are the same in another process and time zone', async () => {
  const first = await simulate(['--count', '3', '--actions', '20']);
  assert.equal(first.code, 0, first.output);
  const second = await simulate(['--count', '3', '--actions', '20'], { ...process.env, TZ: 'Asia/Tokyo' });
  assert.equal(hashOf(second.output), hashOf(first.output));
});

test('Kept plans of the simulation break no rule', async () => {
  const { code, output } = await simulate([PLANS]);
  assert.equal(code, 0, output);
  assert.doesNotMatch(output, /^0 plans/m);
});

test('A failing plan of the simulation is cut down to what makes it fail', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-simulation-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'plan.json');
  const { code, output } = await simulate(['--seed', '6', '--actions', '10', '--hide', '--shrink', file]);
  assert.equal(code, 0, output);
  const plan = JSON.parse(readFileSync(file, 'utf8')) as { actions: unknown[]; daemons: number };
  assert.deepEqual([plan.actions.length, plan.daemons], [1, 1]);
});

test('A job that is hidden from the rules of the simulation is missed by them', async () => {
  const { code, output } = await simulate(['--count', '10', '--stop', '--actions', '20', '--hide']);
  assert.equal(code, 1, output);
  assert.match(output, /breaks J7: job_\w+ was acknowledged and is not there/);
  assert.match(output, /again: npm run simulate -- --seed \d+ --count 1/);
});

test('Each canary of the simulation can be planted in this tree', { skip: needs('git') }, async () => {
  const diffs = globSync('test/simulation/canaries/*/*.diff', { cwd: ROOT });
  assert.notEqual(diffs.length, 0);
  for (const diff of diffs) await run('git', ['apply', '--check', diff], { cwd: ROOT, timeout: LIMIT_MS });
});
