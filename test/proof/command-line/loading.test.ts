/** What verbs load: help and a remote call know neither the store nor the table, so they start fast. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { watchLoaded } from '../../support/measure/loaded.ts';
import { sendJson, standIn } from '../../support/stand-in-server.ts';
import { PROGRAM_ROOT } from '../../../src/lib/files/program-files.ts';

const LIST = '{"schema_version":1,"kind":"job.list","data":[]}\n';

/** Drivers of databases and their users, and the libraries that cost most of a start. */
const HEAVY = [
  /^node:sqlite$/,
  /\/node_modules\/(pg|kysely|zod)\//,
  /\/src\/(store|app|daemon)\b/,
  /operations\/table\.ts$/,
];

test('a remote call loads no driver of a database, no store and no table of operations', async (t) => {
  const loaded = watchLoaded(t);
  const { svc } = await import('../../support/terminal.ts');
  const server = await standIn(t, (_, response) => sendJson(response, 200, LIST));
  for (const words of ['job list', 'job list --output json', 'complete -- job get x', 'whoami --output json']) {
    const ran = await svc(words.split(' '), { env: { SVC_REMOTE: server.url, SVC_TOKEN: 'svc_test' } });
    assert.equal(ran.exitCode, 0, words + ran.stderr);
  }
  assert.ok(
    loaded.some((url) => url.endsWith('/connection/remote.ts')),
    'the hook sees what is loaded',
  );
  assert.deepEqual(
    loaded.filter((url) => HEAVY.some((pattern) => pattern.test(url))),
    [],
  );
});

test('a verb on the machine loads the operations of its area, and services with their first call', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-loading-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const show = `data:text/javascript,import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) { console.error(url); return next(url, context); } });`;
  const verb = ['job', 'list', '--output', 'json', '--data-dir', dataDir];
  const args = ['--import', show, join(PROGRAM_ROOT, 'src/main.ts'), ...verb];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  assert.equal(stdout, LIST);
  const loaded = stderr.split('\n').map((url) => url.slice(url.lastIndexOf('/src/') + 1));
  assert.ok(loaded.includes('src/operations/jobs/jobs.ts'), stderr);
  const others = /^src\/(operations\/(table|openapi|rules\/rules|secrets\/secrets)|doctor\/doctor|runners\/launch)/;
  assert.deepEqual(
    loaded.filter((file) => others.test(file)),
    [],
  );
});

test('neither help nor a remote call loads the modules of Node that take longest', async (t) => {
  const server = await standIn(t, (_, response) => sendJson(response, 200, LIST));
  const show = "data:text/javascript,process.on('exit', () => console.error(process.moduleLoadList.join()))";
  const args = ['--import', show, join(PROGRAM_ROOT, 'src/main.ts')];
  for (const words of [['--help'], ['job', 'list', '--output', 'json', '--remote', server.url]]) {
    const env = { ...process.env, SVC_TOKEN: 'svc_test', NODE_OPTIONS: '' };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...args, ...words], { env });
    assert.ok(stdout === LIST || stdout.includes('Usage'), stdout);
    const loaded = stderr.split(',').map((name) => name.replace('NativeModule ', ''));
    assert.ok(loaded.includes('path'), stderr);
    // The last is that of fetch.
    const slow = ['crypto', 'tls', 'http2', 'sqlite', 'internal/deps/undici/undici'];
    assert.deepEqual(
      slow.filter((name) => loaded.includes(name)),
      [],
      words.join(' '),
    );
  }
});
