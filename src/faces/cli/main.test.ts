import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendFailure, sendJson, standIn } from '../../../test/support/stand-in-server.ts';
import { appOf, NO_APP, svc } from '../../../test/support/terminal.ts';
import { localCaller } from '../../domain/access/caller.ts';
import { Failure, type FailureCode, FAILURES } from '../../domain/failure.ts';
import { encode, encodeFailure } from '../../operations/core/envelope.ts';
import type { Runtime } from '../../operations/core/invoke.ts';
import type { App } from './terminal.ts';

const ID = 'job_01m7yd4zyke00anp2z332d2j5p';
const TOKEN = { SVC_TOKEN: 'svc_test' };
const CODES = Object.keys(FAILURES) as FailureCode[];

/** A runtime whose doctor fails with `code`: a failure from within an operation. */
function failingRuntime(code: FailureCode): Runtime {
  return {
    store: {},
    services: { doctor: () => Promise.reject(new Failure(code, 'It is so.')) },
  } as unknown as Runtime;
}

/** Where the command line has words that are not those of the API, or none. */
const HINTS: Readonly<Partial<Record<FailureCode, string | null>>> = {
  conflict: null,
  duplicate: null,
  invalid_argument: 'svc doctor --help',
  not_implemented: null,
  unauthenticated: 'Give a valid token with --token-file or SVC_TOKEN.',
  unavailable: null,
};

for (const code of CODES) {
  test(
    `point 38: ${code}: ends with its exit code and its envelope on standard output, locally and remotely with ` +
      'the same bytes',
    async (t) => {
      const server = await standIn(t, (_, response) => sendFailure(response, code));
      const local = await svc(['doctor', '--output', 'json'], { app: appOf(failingRuntime(code)) });
      const remote = await svc(['doctor', '--output', 'json', '--remote', server.url], { env: TOKEN });
      assert.deepEqual(local, {
        exitCode: FAILURES[code].exit,
        stdout: encodeFailure(new Failure(code, 'It is so.')),
        stderr: '',
      });
      assert.deepEqual(
        { exitCode: remote.exitCode, stdout: remote.stdout },
        { exitCode: local.exitCode, stdout: local.stdout },
      );
    },
  );

  test(`${code}: shows message and hint on standard error in text mode, locally and remotely`, async (t) => {
    const server = await standIn(t, (_, response) => sendFailure(response, code));
    const local = await svc(['doctor'], { app: appOf(failingRuntime(code)) });
    const remote = await svc(['doctor', '--remote', server.url], { env: TOKEN });
    assert.deepEqual(local, {
      exitCode: FAILURES[code].exit,
      stdout: '',
      stderr: `Error: It is so.\n${HINTS[code] === null ? '' : `Hint: ${HINTS[code] ?? FAILURES[code].hint}\n`}`,
    });
    assert.equal(remote.exitCode, local.exitCode);
    assert.equal(remote.stdout, '');
    assert.ok(remote.stderr.endsWith(local.stderr));
  });
}

test('a code that this build does not know ends with 1, and its envelope is shown as it came', async (t) => {
  const body = '{"schema_version":1,"kind":"error","error":{"code":"from_the_future","message":"m","hint":"h"}}\n';
  const server = await standIn(t, (_, response) => sendJson(response, 418, body));
  const ran = await svc(['doctor', '--output', 'json', '--remote', server.url], { env: TOKEN });
  assert.deepEqual(ran, { exitCode: 1, stdout: body, stderr: '' });
});

test('a usage error is invalid_argument: exit 1, an envelope in JSON mode, a hint in text mode', async () => {
  const text = await svc(['job', 'lst']);
  assert.deepEqual(text, {
    exitCode: 1,
    stdout: '',
    stderr: 'Error: Unknown verb of svc job: "lst". Did you mean "list"?\nHint: svc job --help\n',
  });
  for (const given of [
    { argv: ['job', 'lst', '--output', 'json'] },
    { argv: ['--output=json', 'job', 'lst'] },
    { argv: ['job', 'lst'], env: { SVC_OUTPUT: 'json' } },
  ]) {
    const json = await svc(given.argv, { env: given.env ?? {} });
    assert.deepEqual(json, {
      exitCode: 1,
      stdout: encodeFailure(new Failure('invalid_argument', 'Unknown verb of svc job: "lst". Did you mean "list"?')),
      stderr: '',
    });
  }
});

test('--output is text or json; anything else is refused, and SVC_OUTPUT is looked at after the flag', async () => {
  assert.equal((await svc(['version', '--output', 'yaml'])).exitCode, 1);
  assert.match(
    (await svc(['version'], { env: { SVC_OUTPUT: 'yaml' } })).stderr,
    /^Error: SVC_OUTPUT: expected text or json/,
  );
  assert.match(
    (await svc(['version'], { env: { SVC_OUTPUT: 'json' } })).stdout,
    /^\{"schema_version":1,"kind":"version\.get","data":\{"version":"0\.0\.0-test","node":"/,
  );
  assert.equal(
    (await svc(['version', '--output', 'text'], { env: { SVC_OUTPUT: 'json' } })).stdout,
    `svc 0.0.0-test (node ${process.versions.node})\n`,
  );
});

test('fields go where the route takes them from, with the token, and the answer is shown byte for byte', async (t) => {
  const body = '{"schema_version":1,"kind":"job.list","data":[ {"odd":  "spacing"} ]}\n';
  const server = await standIn(t, (_, response) => sendJson(response, 200, body));
  const remote = ['--remote', `${server.url}/ops/`, '--output', 'json'];
  const env = TOKEN;
  assert.deepEqual(
    await svc(['job', 'list', '--state', 'failed', '--runbook', 'a b&c', '--limit', '0', ...remote], { env }),
    { exitCode: 0, stdout: body, stderr: '' },
  );
  await svc(['job', 'get', 'a/b?c', ...remote], { env });
  await svc(
    [
      'command',
      'run',
      '--inventory',
      'localhost',
      '--egress-port',
      '443',
      '--idempotency-key',
      'k 1',
      ...remote,
      '--',
      'ls',
      '-l',
    ],
    { env },
  );
  await svc(['maintenance', 'cordon', ...remote], { env });
  assert.deepEqual(
    server.seen.map(({ method, url, body: sent }) => ({ method, url, sent })),
    [
      { method: 'GET', url: '/ops/api/v1/jobs?state=failed&runbook=a+b%26c&limit=0', sent: '' },
      { method: 'GET', url: '/ops/api/v1/jobs/a%2Fb%3Fc', sent: '' },
      {
        method: 'POST',
        url: '/ops/api/v1/commands/run',
        sent: '{"inventory":"localhost","egress_ports":[443],"command":["ls","-l"]}',
      },
      { method: 'POST', url: '/ops/api/v1/maintenance/cordon', sent: '' },
    ],
  );
  assert.ok(server.seen.every(({ headers }) => headers.authorization === 'Bearer svc_test'));
  assert.equal(server.seen[2]?.headers['idempotency-key'], 'k 1');
  assert.equal(server.seen[2]?.headers['content-type'], 'application/json');
});

test('a refused input of a local call opens no data directory', async () => {
  const ran = await svc(['job', 'get', 'nonsense', '--output', 'json']);
  assert.equal(ran.exitCode, 1);
  assert.match(ran.stdout, /"message":"id: expected an id of the form job_ and 26 characters\."/);
});

test('a redrive needs --yes or a yes at the terminal; without either it is refused and nothing is called', async () => {
  const refused = await svc(['job', 'redrive', '--output', 'json']);
  assert.equal(refused.exitCode, 1);
  assert.match(
    refused.stdout,
    /"code":"invalid_argument","message":"svc job redrive: needs a confirmation; use --yes\."/,
  );
  assert.match((await svc(['job', 'redrive', '--no-input'], { typed: 'y\n' })).stderr, /use --yes/);
  // The stand-in has no data directory: what gets as far as that has passed the question, or lists the jobs for it.
  for (const [argv, typed] of [
    [['job', 'redrive', '--yes'], undefined],
    [['job', 'redrive', '--dry-run'], undefined],
    [['job', 'redrive'], 'y\n'],
  ] as const) {
    const ran = await svc(argv, typed === undefined ? {} : { typed });
    assert.match(ran.stderr, /this test has no data directory/);
  }
});

test('point 38: text on a terminal has colour unless NO_COLOR, TERM=dumb or --no-color; elsewhere never', async (t) => {
  const server = await standIn(t, (_, response) =>
    sendJson(
      response,
      200,
      `{"schema_version":1,"kind":"doctor","data":[{"name":"store","status":"fail","detail":"${ID}"}]}\n`,
    ),
  );
  const argv = ['doctor', '--remote', server.url];
  const isColoured = async (more: string[], env: Record<string, string>, columns?: number): Promise<boolean> =>
    (
      await svc([...argv, ...more], { env: { ...TOKEN, ...env }, ...(columns === undefined ? {} : { columns }) })
    ).stdout.includes('\u001b[');
  assert.equal(await isColoured([], {}, 80), true);
  assert.equal(await isColoured(['--no-color'], {}, 80), false);
  assert.equal(await isColoured([], { NO_COLOR: '1' }, 80), false);
  assert.equal(await isColoured([], { TERM: 'dumb' }, 80), false);
  assert.equal(await isColoured([], {}), false);
  // No variable colours what is no terminal.
  for (const FORCE_COLOR of ['1', '3', 'true']) {
    assert.equal(await isColoured([], { FORCE_COLOR }), false);
    assert.equal(await isColoured([], { FORCE_COLOR }, 80), true);
    assert.equal(await isColoured([], { FORCE_COLOR, NO_COLOR: '1' }, 80), false);
    assert.equal(await isColoured([], { FORCE_COLOR, TERM: 'dumb' }, 80), false);
  }
});

test('a new token is alone on standard output; the words about it are on standard error', async () => {
  const data = { id: 'tok_1', name: 'ci', scope: 'operator', expires_at: null, token: 'svc_tok_secret' };
  const runtime = {
    store: {
      write: () =>
        Promise.resolve({
          shape: 'body',
          status: 200,
          kind: 'token.created',
          body: encode('token.created', data),
          data,
        }),
    },
    services: { hashToken: () => Promise.resolve('h') },
  } as unknown as Runtime;
  const made = await svc(['token', 'create', '--name', 'ci', '--scope', 'operator'], { app: appOf(runtime) });
  assert.equal(made.stdout, 'svc_tok_secret\n');
  assert.match(made.stderr, /^Token ci, scope operator, valid until it is revoked\. It is shown only now:\n$/);
});

const noEntries = (): Promise<[]> => Promise.resolve([]);

test('if the store cannot be opened, the doctor and whoami answer, and all else fails with the reason', async () => {
  const server = { version: '1', hostname: null, startedAt: null, timeZone: 'UTC' };
  const app: App = {
    ...NO_APP,
    openLocal: () => Promise.reject(new Failure('unavailable', 'No store today.')),
    withoutStore: (_, reason) =>
      Promise.resolve({ runtime: { services: { server, doctor: noEntries }, reason }, caller: localCaller('ana') }),
  };
  assert.equal((await svc(['doctor'], { app })).exitCode, 0);
  assert.match((await svc(['whoami'], { app })).stdout, /local:ana/);
  const nowhere = { ...app, openLocal: () => Promise.reject(new Failure('not_found', 'There is no data directory.')) };
  assert.equal((await svc(['doctor'], { app: nowhere })).exitCode, 0);
  assert.equal((await svc(['whoami'], { app: nowhere })).exitCode, FAILURES.not_found.exit);
  for (const argv of [
    ['job', 'list'],
    ['mute', 'add', 'global', '--for', '1h'],
  ]) {
    const { exitCode, stderr } = await svc(argv, { app });
    assert.equal(exitCode, FAILURES.unavailable.exit);
    assert.match(stderr, /^Error: No store today\.\n/);
  }
});
