/** The runner of these tests, on files that fail in each way. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Report } from '../../scripts/tests/report.ts';
import { type RunOptions, runLanes } from '../../scripts/tests/run.ts';

const HEAD = "import { test } from 'node:test';\n";
const HANGS = "test('hangs', () => new Promise((resolve) => setTimeout(resolve, 600_000)));\n";
const PASSES = "test('passes', () => {});\n";
const FAILS = "test('fails', () => { throw new Error('a reason'); });\n";
const LIMITS = { budgetMs: 60_000, testLimitMs: 60_000 };

interface Ran {
  readonly report: Report;
  readonly text: string;
}

/** Runs one lane of these files, by their names. */
async function run(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  limits = LIMITS,
  others: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-runner-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries({ ...files, ...others })) writeFileSync(join(folder, name), HEAD + text);
  const lines: string[] = [];
  const report = new Report((line) => lines.push(line));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const options: RunOptions = {
    limits,
    node: process.execPath,
    nodeArgs: [],
    env,
    signal: new AbortController().signal,
  };
  await runLanes([{ name: 'sample', files: Object.keys(files).map((name) => join(folder, name)) }], options, report);
  report.summary();
  return { report, text: lines.join('\n') };
}

describe('The runner', () => {
  test('is green when all tests passed, and shows the slowest files', async (t) => {
    const { report, text } = await run(t, { 'a.test.mjs': PASSES });
    assert.ok(report.isGreen, text);
    assert.match(text, /slowest files[^]*a\.test\.mjs[^]*\n1 passed, 0 failed, 0 skipped$/);
  });

  test('shows why a test failed, and runs the others', async (t) => {
    const { report, text } = await run(t, { 'a.test.mjs': FAILS, 'b.test.mjs': PASSES });
    assert.ok(!report.isGreen);
    assert.match(text, /a\.test\.mjs:2 fails[^]*Error: a reason[^]*\n1 passed, 1 failed, 0 skipped$/);
  });

  test('names a test that hangs, and runs the files after it', async (t) => {
    const limits = { ...LIMITS, testLimitMs: 200 };
    const { report, text } = await run(t, { 'a.test.mjs': PASSES + HANGS, 'b.test.mjs': PASSES }, limits);
    assert.ok(!report.isGreen);
    assert.match(text, /a\.test\.mjs:3 hangs\n +did not end within 0\.2 s of a quick machine/);
    assert.match(text, /\n2 passed, 1 failed, 0 skipped$/);
  });

  test('resumes after the file that hangs, also where a helper defines its tests', async (t) => {
    const limits = { ...LIMITS, testLimitMs: 400 };
    const helped = "import { define } from './helper.mjs';\ndefine();\n";
    const helper = `export function define() { ${HANGS.trim()} }\n`;
    const files = { 'a.test.mjs': PASSES, 'b.test.mjs': HANGS, 'c.test.mjs': helped, 'd.test.mjs': PASSES };
    const { report, text } = await run(t, files, limits, { 'helper.mjs': helper });
    assert.ok(!report.isGreen);
    assert.match(text, /b\.test\.mjs:2 hangs[^]*helper\.mjs:2 hangs/);
    assert.match(text, /\n2 passed, [23] failed, 0 skipped$/);
  });

  test('shows an error at the top level of a file that has tests, and a process that ends as if it had run all', async (t) => {
    const throws = `${PASSES}throw new Error('in the middle');\n`;
    const first = await run(t, { 'a.test.mjs': throws, 'b.test.mjs': PASSES });
    assert.match(first.text, /the load of .*a\.test\.mjs[^]*Error: in the middle[^]*\n2 passed, 1 failed, 0 skipped$/);
    const ends = "test('ends', () => process.exit(0));\n";
    const second = await run(t, { 'a.test.mjs': ends, 'b.test.mjs': PASSES });
    assert.ok(!second.report.isGreen, second.text);
    assert.match(second.text, /its process ended with 0\./);
  });

  test('is not green without a test', async (t) => {
    const { report, text } = await run(t, { 'a.test.mjs': '' });
    assert.ok(!report.isGreen);
    assert.doesNotMatch(text, /share of/);
  });

  test('says that it was interrupted in one line', () => {
    const lines: string[] = [];
    new Report((line) => lines.push(line)).stopped('Interrupted', []);
    assert.deepEqual(lines, ['Interrupted.']);
  });

  test('names the last test of a process that something holds open', async (t) => {
    const holds = "test('leaves a timer', () => void setInterval(() => {}, 1_000));\n";
    const { report, text } = await run(t, { 'a.test.mjs': PASSES + holds }, { ...LIMITS, testLimitMs: 200 });
    assert.ok(!report.isGreen);
    assert.match(text, /a\.test\.mjs:3 leaves a timer\n +was the last, and its process did not end/);
    assert.match(text, /\n2 passed, 1 failed, 0 skipped$/);
  });

  test('names the file whose process ended, and runs the files after it', async (t) => {
    const ends = `${PASSES}test('ends', async () => { console.log('last words'); process.exit(3); });\n`;
    const { report, text } = await run(t, { 'a.test.mjs': ends, 'b.test.mjs': PASSES });
    assert.ok(!report.isGreen);
    assert.match(text, /its process ended with 3\.[^]*last words/);
    assert.match(text, /, 1 failed, 0 skipped$/);
  });

  test('ends a run that takes four times its budget, names what was running, and counts no other as failed', async (t) => {
    const { report, text } = await run(t, { 'a.test.mjs': HANGS, 'b.test.mjs': FAILS }, { ...LIMITS, budgetMs: 500 });
    assert.ok(!report.isGreen);
    assert.match(
      text,
      /took more than 2 s of a quick machine\. It was stopped while these tests were running:\n.*a\.test\.mjs:2 hangs/,
    );
    assert.match(text, /\n0 passed, 0 failed, 0 skipped$/);
  });

  test('a test whose program is missing is left out, and one line names the program and the file', async (t) => {
    const leftOut = "test('needs a program', { skip: 'missing: a-program' }, () => {});\n";
    const { report, text } = await run(t, { 'a.test.mjs': PASSES + leftOut });
    assert.ok(report.isGreen);
    assert.deepEqual(report.missing, ['a-program']);
    assert.match(text, /Left out, because this machine does not have a-program: 1 test in .*a\.test\.mjs\.\n/);
    assert.match(text, /\n1 passed, 0 failed, 1 skipped$/);
  });
});
