/** The command line against the real daemon: on the data directory and over HTTP it says the same. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import * as app from '../../../src/app.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { type Ran, svc } from '../../support/terminal.ts';
import { needs } from '../../support/tools.ts';

const UNKNOWN = 'job_01m7yd4zyke00anp2z332d2j5p';

/** Command lines about a job that failed, and the exit code of each. */
function requestsAbout(id: string): readonly (readonly [words: string, exit: number])[] {
  return [
    ['job list', 0],
    ['job list --limit 0', 0],
    ['job list --limit 2 --state failed', 0],
    ['job list --runbook unknown', 0],
    [`job get ${id}`, 0],
    [`job events ${id}`, 0],
    [`job events ${id} --since 3`, 0],
    [`job result ${id}`, 0],
    [`job tail ${id}`, 0],
    [`job wait ${id}`, 3],
    ['maintenance readiness', 0],
    ['maintenance interrupted', 0],
    ['maintenance cordon', 0],
    ['maintenance uncordon', 0],
    [`job get ${UNKNOWN}`, 3],
    [`job tail ${UNKNOWN}`, 3],
    ['job get nonsense', 1],
    ['job list --limit -1', 1],
    ['job list --limit x', 1],
    ['job list --state nope', 1],
    [`job cancel ${id}`, 5],
    ['command run --inventory other -- id', 3],
    ['command run --inventory localhost --timeout soon -- id', 1],
  ];
}

interface BothWays {
  readonly fixture: Fixture;
  /** On the data directory. */
  readonly local: (...argv: string[]) => Promise<Ran>;
  /** Over HTTP. */
  readonly remote: (...argv: string[]) => Promise<Ran>;
}

/** A daemon with a base path, and the command line for it in both ways. */
async function openBothWays(t: TestContext): Promise<BothWays> {
  const fixture = await openFixture(t);
  const daemon = await fixture.serve({ args: ['--base-path', '/ops'] });
  const tokenFile = join(fixture.dir, 'token');
  writeFileSync(tokenFile, `${fixture.token}\n`, { mode: 0o600 });
  const env = {
    SVC_DATA_DIR: join(fixture.dir, 'data'),
    SVC_SEAL_KEY_FILE: join(fixture.dir, 'seal.key'),
    SVC_TOKEN_FILE: tokenFile,
  };
  // `job wait` must wait in real time here: the daemon has its own clock.
  const local = (...argv: string[]): Promise<Ran> => svc(argv, { env, app, clock: systemClock });
  const remote = (...argv: string[]): Promise<Ran> =>
    svc(argv, {
      env: { ...env, SVC_REMOTE: `${daemon.ready.web_url.replace(/\/ops\/?$/, '')}/ops` },
      clock: systemClock,
    });
  return { fixture, local, remote };
}

async function refuseWhatIsRevoked({ fixture, local, remote }: BothWays): Promise<void> {
  const made = JSON.parse(
    (await local('token', 'create', '--name', 'short', '--scope', 'readonly', '--output', 'json')).stdout,
  ) as { data: { token: string } };
  const file = join(fixture.dir, 'short');
  writeFileSync(file, made.data.token, { mode: 0o600 });
  assert.equal((await remote('whoami', '--token-file', file)).exitCode, 0);
  assert.equal(
    (await remote('maintenance', 'cordon', '--token-file', file)).exitCode,
    4,
    'its scope does not permit that',
  );
  assert.equal((await local('token', 'revoke', 'short', '--yes')).exitCode, 0);
  assert.equal((await remote('whoami', '--token-file', file)).exitCode, 4);
}

test(
  'the command line says the same on the data directory and over HTTP, and runs commands both ways',
  { skip: needs('Landlock ABI 4') },
  async (t) => {
    const { fixture, local, remote } = await openBothWays(t);
    const run = ['command', 'run', '--inventory', 'localhost', '--wait'];
    const script = ['--', '/bin/sh', '-c', 'echo out; echo err >&2; exit 3'];

    await t.test('a command that is run with --wait gives its output and its exit code', async () => {
      for (const svcHere of [local, remote]) {
        const text = await svcHere(...run, ...script);
        assert.deepEqual([text.exitCode, text.stdout], [3, 'out\n'], text.stderr);
        assert.match(text.stderr, /\nerr\n/);
        const json = await svcHere(...run, '--output', 'json', ...script);
        const { kind, data } = JSON.parse(json.stdout) as { kind: string; data: { state: string; hosts: unknown[] } };
        assert.deepEqual([json.exitCode, kind, data.state], [3, 'command.result', 'failed']);
        assert.deepEqual(data.hosts, [
          { host: 'localhost', rc: 3, changed: null, stdout: 'out\n', stderr: 'err\n', status: 'failed' },
        ]);
      }
    });

    await t.test(
      'point 38: every answer and every failure has the same bytes and the same exit code both ways',
      async () => {
        const listed = JSON.parse((await local('job', 'list', '--output', 'json')).stdout) as {
          data: { id: string }[];
        };
        assert.equal(listed.data.length, 4);
        const id = listed.data[0]?.id ?? '';
        for (const [words, exit] of requestsAbout(id)) {
          const [before = '', after] = words.split(' -- ');
          const argv = [...before.split(' '), '--output', 'json', ...(after === undefined ? [] : ['--', after])];
          const here = await local(...argv);
          assert.deepEqual(await remote(...argv), here, words);
          assert.equal(here.exitCode, exit, `${words}: ${here.stdout}`);
          assert.ok(here.stdout.endsWith('}\n'), words);
        }
      },
    );

    await t.test('a removed thing is shown as removed, in text mode only', async () => {
      for (const name of ['a', 'b']) await local('webhook', 'add', name, '--source', 'generic');
      assert.match((await local('webhook', 'remove', 'a', '--yes')).stdout, /^Removed:\nWebhook +a\n/);
      assert.match(
        (await local('webhook', 'remove', 'b', '--yes', '--output', 'json')).stdout,
        /^\{"schema_version":1,"kind":"webhook.get",/,
      );
    });

    await t.test('an idempotency key makes one job', async () => {
      const argv = [
        'command',
        'run',
        '--inventory',
        'localhost',
        '--idempotency-key',
        'once',
        '--output',
        'json',
        '--',
        '/bin/true',
      ];
      const first = await remote(...argv);
      assert.equal(first.exitCode, 0);
      assert.deepEqual(await remote(...argv), first);
    });

    await t.test('a revoked token gives exit code 4', () => refuseWhatIsRevoked({ fixture, local, remote }));
  },
);
