/** Contexts: where they are kept, what wins over them, and whom their token is sent to. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { sendJson, standIn } from '../../../../test/support/stand-in-server.ts';
import { type Ran, svc } from '../../../../test/support/terminal.ts';

const EMPTY = '{"schema_version":1,"kind":"job.list","data":[]}\n';
const SECRET = 'svc_of_the_context';

interface Home {
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tokenFile: string;
  readonly run: (words: string, env?: Readonly<Record<string, string>>) => Promise<Ran>;
}

function home(t: TestContext): Home {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-context-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const tokenFile = join(dir, 'token');
  writeFileSync(tokenFile, `${SECRET}\n`, { mode: 0o600 });
  const env = { XDG_CONFIG_HOME: join(dir, 'config') };
  return { dir, env, tokenFile, run: (words, more = {}) => svc(words.split(' '), { env: { ...env, ...more } }) };
}

/** A server that says who asked. */
async function server(t: TestContext) {
  const asked: (string | undefined)[] = [];
  const { url } = await standIn(t, (request, response) => {
    asked.push(request.headers.authorization);
    sendJson(response, 200, EMPTY);
  });
  return { url, asked };
}

test('a context is added, listed, used and removed, in files that only their owner reads', async (t) => {
  const { dir, run, tokenFile } = home(t);
  const { url, asked } = await server(t);
  const added = await run(`context add prod --url ${url}/ --token-file ${tokenFile}`);
  assert.deepEqual([added.exitCode, added.stderr], [0, '']);
  assert.match(added.stdout, /^Added the context prod\. /);
  assert.equal((await run(`context add lab --url ${url} --token-variable LAB_TOKEN`)).exitCode, 0);
  const folder = join(dir, 'config', 'gatehouse', 'contexts');
  assert.deepEqual(readdirSync(folder).toSorted(), ['lab.json', 'prod.json']);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(statSync(join(folder, 'prod.json')).mode & 0o777, 0o600);
  assert.doesNotMatch(readFileSync(join(folder, 'prod.json'), 'utf8'), new RegExp(SECRET));

  assert.equal((await run('job list --context prod')).exitCode, 0);
  assert.equal((await run('context use prod')).stdout, `Using prod: ${url}\n`);
  const hidden = await run('context use prod', { SVC_DATA_DIR: '/srv/x' });
  assert.match(hidden.stdout, /^SVC_DATA_DIR is set and wins: unset it to use the context\.$/m);
  assert.equal((await run('job list')).exitCode, 0);
  assert.equal((await run('job list --context lab', { LAB_TOKEN: 'svc_lab' })).exitCode, 0);
  assert.deepEqual(asked, [`Bearer ${SECRET}`, `Bearer ${SECRET}`, 'Bearer svc_lab']);
  const listed = JSON.parse((await run('context list --output json')).stdout) as { data: unknown };
  assert.deepEqual(listed.data, [
    { name: 'lab', url, token_file: null, token_variable: 'LAB_TOKEN', current: false },
    { name: 'prod', url, token_file: tokenFile, token_variable: null, current: true },
  ]);
  assert.match((await run('context list')).stdout, /^\* {2}prod /m);

  assert.equal((await run('context remove prod')).exitCode, 0);
  assert.deepEqual(readdirSync(folder), ['lab.json']);
  assert.equal((await run('job list --context prod')).exitCode, 3);
  assert.match((await run('job list')).stderr, /this test has no data directory/, 'local again');
});

test('what is given by flag or variable wins over the context in use', async (t) => {
  const { run, tokenFile } = home(t);
  const [inUse, other] = [await server(t), await server(t)];
  await run(`context add prod --url ${inUse.url} --token-file ${tokenFile}`);
  await run('context use prod');
  assert.equal((await run(`job list --remote ${other.url}`, { SVC_TOKEN: 'svc_other' })).exitCode, 0);
  assert.equal((await run('job list', { SVC_REMOTE: other.url, SVC_TOKEN: 'svc_other' })).exitCode, 0);
  assert.deepEqual(other.asked, ['Bearer svc_other', 'Bearer svc_other']);
  for (const words of ['job list --context local', 'job list --data-dir /nowhere'])
    assert.match((await run(words)).stderr, /this test has no data directory/, words);
  assert.match((await run('job list', { SVC_CONTEXT: 'local' })).stderr, /no data directory/);
  assert.deepEqual(inUse.asked, []);
  // A token of the environment may belong to another server.
  await run('job list', { SVC_TOKEN: 'svc_other', SVC_TOKEN_FILE: '/nowhere' });
  assert.deepEqual(inUse.asked, [`Bearer ${SECRET}`]);
  assert.equal((await run('version')).exitCode, 0, 'a program of this machine');
  assert.match((await run('token list')).stderr, /is not available with --remote/, 'no other store than that is meant');
});

test('two places at once, strange names, files and tokens are refused', async (t) => {
  const { dir, run, tokenFile } = home(t);
  const add = `context add prod --url http://127.0.0.1:9 --token-file ${tokenFile}`;
  assert.equal((await run(add)).exitCode, 0);
  const refusals: readonly (readonly [words: string, exit: number, message: RegExp])[] = [
    [add, 5, /already/],
    ['job list --context prod --remote http://127.0.0.1:9', 1, /--context, --remote: give one/],
    ['job list --context prod --data-dir /tmp', 1, /--context, --data-dir: give one/],
    ['job list --context ../prod', 3, /no context/],
    ['version --context prod', 1, /not available/],
    [`context add local --url http://127.0.0.1:9 --token-file ${tokenFile}`, 1, /name|NAME/],
    [`context add ../x --url http://127.0.0.1:9 --token-file ${tokenFile}`, 1, /expected/],
    [`context add x --url ftp://127.0.0.1:9 --token-file ${tokenFile}`, 1, /--url: expected/],
    ['context add x --url http://u:p@127.0.0.1:9 --token-variable T', 1, /--url: the URL must not carry/],
    ['context add x --url http://127.0.0.1:9', 1, /--token-file, --token-variable: expected one/],
    ['context add x --url http://127.0.0.1:9 --token-variable 1-2', 1, /--token-variable/],
    [`context add x --url http://127.0.0.1:9 --token-file ${dir}/none`, 1, /--token-file/],
    ['context use none', 3, /no context/],
    ['context remove none', 3, /no context/],
  ];
  for (const [words, exit, message] of refusals) {
    const ran = await run(words);
    assert.match(ran.stderr, message, words);
    assert.equal(ran.exitCode, exit, words);
  }
  assert.match((await run('job list', { SVC_CONTEXT: 'prod', SVC_REMOTE: 'http://127.0.0.1:9' })).stderr, /set one/);
  assert.deepEqual(readdirSync(join(dir, 'config', 'gatehouse', 'contexts')), ['prod.json']);

  const file = join(dir, 'config', 'gatehouse', 'contexts', 'prod.json');
  writeFileSync(file, '{"url":1}');
  assert.match((await run('job list --context prod')).stderr, /damaged/);
  chmodSync(file, 0o644);
  assert.match((await run('job list --context prod')).stderr, /0600/);
  assert.match((await svc(['context', 'use', 'local'], { env: {} })).stderr, /XDG_CONFIG_HOME or HOME/);
  assert.equal((await svc(['context', 'list'], { env: {} })).exitCode, 0);
});
