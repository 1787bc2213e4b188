/**
 * A daemon on a kernel whose Landlock cannot limit TCP to ports: what runs, what is refused, and how it says so.
 * `npm run kernels` runs these tests on such a kernel.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { DoctorEntry } from '../../../src/doctor/entry.ts';
import type { Api } from '../../support/api-client.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { addWorkspace, items, linesOf, runToEnd } from '../../support/infrastructure.ts';
import { needsKernelOf, needsOlderKernel, programOfOlderKernel } from '../../support/kernels/older-kernel.ts';
import { needs, TERRAFORM } from '../../support/tools.ts';

async function open(
  t: TestContext,
  abi: number,
  args: readonly string[] = [],
): Promise<{ fixture: Fixture; api: Api; sandbox: DoctorEntry; log: string }> {
  const fixture = await openFixture(t);
  const daemon = await fixture.start({ program: programOfOlderKernel(t, abi), args });
  const api = daemon.api(fixture.token);
  const { data } = await api.get<DoctorEntry[]>('/health');
  const sandbox = data.find(({ name }) => name === 'sandbox') ?? assert.fail('no such entry');
  return { fixture, api, sandbox, log: daemon.log() };
}

async function run(api: Api, command: readonly string[], egressPorts: readonly number[] = []): Promise<string> {
  const body = { inventory: 'localhost', command, egress_ports: egressPorts };
  const answer = await api.post<{ job_id: string }>('/commands/run', body);
  assert.equal(answer.status, 202, answer.text);
  return answer.data.job_id;
}

/** The end of a job and its output. */
async function endOf(fixture: Fixture, api: Api, id: string): Promise<[string, number | null, ...string[]]> {
  const { state, exit_code: exitCode } = await api.waitFor(id, undefined, 60_000);
  return [state, exitCode, ...(await linesOf(fixture, id))];
}

describe('A daemon on an older kernel', { skip: needsOlderKernel(2) }, () => {
  test('runs commands without internet sockets, and their output says so', async (t) => {
    const { fixture, api, sandbox } = await open(t, 2);
    const script =
      'echo one > file && cat file; getent hosts localhost > found && echo found; exec 3<>/dev/tcp/127.0.0.1/22';
    const [state, exitCode, note, ...lines] = await endOf(fixture, api, await run(api, ['bash', '-c', script]));
    assert.deepEqual([state, exitCode, lines.slice(0, 2)], ['failed', 1, ['one', 'found']], lines.join('\n'));
    assert.match(note ?? '', /no internet sockets, so no connection and no name resolution works/);
    assert.match(lines.join('\n'), /Address family not supported by protocol/);
    assert.deepEqual((await endOf(fixture, api, await run(api, ['true']))).slice(0, 2), ['succeeded', 0]);
    assert.equal(sandbox.status, 'warn');
    assert.match(sandbox.detail, /Landlock ABI 2, .*are refused without --allow-unfiltered-egress/);
  });

  test('T34: refuses a command with egress_ports in one line, and starts nothing', async (t) => {
    const { fixture, api } = await open(t, 2);
    const proof = join(fixture.dir, 'it-ran');
    const [state, exitCode, ...lines] = await endOf(fixture, api, await run(api, ['touch', proof], [443]));
    assert.deepEqual([state, exitCode, lines.length], ['failed', null, 1]);
    assert.match(lines[0] ?? '', /^The tool never started: .*Linux 6\.7.*--allow-unfiltered-egress/);
    assert.equal(existsSync(proof), false);
  });

  test('lets such a command reach every port where the operator allows that', async (t) => {
    const server = createServer((socket) => socket.end('hello\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { fixture, api, sandbox } = await open(t, 2, ['--allow-unfiltered-egress']);
    const connect = ['bash', '-c', `cat < /dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port}`];
    const [state, , note, ...lines] = await endOf(fixture, api, await run(api, connect, [443]));
    assert.deepEqual([state, lines], ['succeeded', ['hello']]);
    assert.match(note ?? '', /reaches every port \(--allow-unfiltered-egress\)/);
    const offline = await endOf(fixture, api, await run(api, connect));
    assert.deepEqual(offline.slice(0, 2), ['failed', 1], 'a command that named no port still has no socket');
    assert.equal(sandbox.status, 'warn');
    assert.match(sandbox.detail, /reach every port \(--allow-unfiltered-egress\)/);
  });

  for (const abi of [1, 2])
    test(
      `plans, applies, checks for drift and destroys with Landlock ABI ${abi}`,
      { skip: needs(TERRAFORM) || needsKernelOf(abi) },
      async (t) => {
        const { fixture } = await open(t, abi);
        const dir = await addWorkspace(fixture, 'net', `${items(3)}module "inner" {\n  source = "./inner"\n}\n`);
        mkdirSync(join(dir, 'inner'));
        writeFileSync(join(dir, 'inner', 'main.tf'), 'resource "terraform_data" "in" {}\n');
        for (const verb of ['plan', 'apply', 'apply', 'drift', 'destroy'] as const) {
          const job = await runToEnd(fixture, verb, 'net', {}, 120_000);
          assert.equal(job.state, 'succeeded', (await linesOf(fixture, job.id)).join('\n'));
        }
      },
    );

  test('T34: runs nothing in the sandbox with its own account, and says what to do', async (t) => {
    const { fixture, api, sandbox, log } = await open(t, 2, ['--job-user', 'root', '--allow-unfiltered-egress']);
    assert.match(log, /every sandboxed job is refused.*sandboxed jobs cannot run here/);
    const [state, exitCode, ...lines] = await endOf(fixture, api, await run(api, ['true']));
    assert.deepEqual([state, exitCode, lines.length], ['failed', null, 1]);
    assert.match(
      lines[0] ?? '',
      /^The tool never started: .*another account.*start svc serve as root.*or with --job-user and CAP_SETUID/,
    );
    assert.equal(sandbox.status, 'fail');
    assert.match(sandbox.detail, /every sandboxed job is refused/);
    const privileged = await fixture.queue({ command: ['true'], privileged: true });
    assert.equal((await fixture.waitFor(privileged, ['succeeded', 'failed'])).state, 'succeeded');
  });
});
