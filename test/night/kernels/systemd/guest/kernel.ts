/** What runs on a kernel that cannot limit TCP to ports, and what is refused there. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { before, describe, test } from 'node:test';
import type { Api, JobJson } from '../../../../support/api-client.ts';
import { entry, openApi, outputOf, restartWith, run, svc } from './service.ts';

const PLAN_MS = 300_000;
const FREE = 'SVC_ALLOW_UNFILTERED_EGRESS=1';
const ROOT = '/srv/net';
const noTool = ['terraform', 'tofu'].every((tool) => !hasProgram(tool)) && 'the host has neither terraform nor tofu';
let api: Api;

function hasProgram(name: string): boolean {
  return run('sh', '-c', `command -v ${name} || true`).trim() !== '';
}

/** The end of a queued job, and all that it printed. */
async function endOf(id: string, limitMs = 60_000): Promise<{ job: JobJson; text: string }> {
  const job = await api.waitFor(id, undefined, limitMs);
  const { stdout, stderr, system } = await outputOf(api, id);
  return { job, text: `${system}${stdout}${stderr}` };
}

async function workspaceRun(verb: string, body: object = {}): Promise<{ job: JobJson; text: string }> {
  const answer = await api.post<{ job_id: string }>(`/workspaces/net/${verb}`, body);
  assert.equal(answer.status, 202, answer.text);
  return endOf(answer.data.job_id, PLAN_MS);
}

async function command(words: readonly string[], ports: readonly number[]): Promise<{ job: JobJson; text: string }> {
  const body = { inventory: 'localhost', command: words, egress_ports: ports };
  const answer = await api.post<{ job_id: string }>('/commands/run', body);
  assert.equal(answer.status, 202, answer.text);
  return endOf(answer.data.job_id);
}

describe('A kernel with Landlock ABI 2', () => {
  before(async () => {
    await restartWith();
    api = openApi();
    mkdirSync(ROOT, { recursive: true });
    const note = 'provisioner "local-exec" {\n    command = "id -un"\n  }';
    const first = `resource "terraform_data" "first" {\n  ${note}\n}\n`;
    writeFileSync(`${ROOT}/main.tf`, `${first}resource "terraform_data" "item" {\n  count = 3\n}\n`);
    writeFileSync(`${ROOT}/site.yml`, '- hosts: all\n  tasks: []\n');
    // It is refused before it starts.
    writeFileSync('/usr/local/bin/ansible-playbook', '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  });

  test('a plan and its apply run as the account of jobs', { skip: noTool }, async (t) => {
    svc('workspace', 'add', 'net', '--dir', ROOT);
    const begun = performance.now();
    const plan = await workspaceRun('plan');
    assert.equal(plan.job.state, 'succeeded', plan.text);
    t.diagnostic(`plan in ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
    const { plan_artifact_id: artifact } = plan.job as JobJson & { plan_artifact_id: string };
    const apply = await workspaceRun('apply', { plan: artifact });
    assert.equal(apply.job.state, 'succeeded', apply.text);
    assert.match(apply.text, /\(local-exec\): gatehouse-job/);
    const again = await workspaceRun('plan');
    assert.match(again.text, /No changes/);
  });

  test('a local command runs without internet sockets, and its output says so', async () => {
    const { job, text } = await command(['bash', '-c', 'echo one > f && cat f; exec 3<>/dev/tcp/127.0.0.1/8420'], []);
    assert.deepEqual([job.state, job.exit_code], ['failed', 1]);
    assert.match(text, /no internet sockets[^]*^one$[^]*Address family not supported by protocol/m);
  });

  test('T34: a command with egress_ports and a playbook are refused in one line', async () => {
    const refused = /^The tool never started: .*Linux 6\.7.*--allow-unfiltered-egress/;
    const { job, text } = await command(['true'], [443]);
    assert.deepEqual([job.state, job.exit_code], ['failed', null]);
    assert.match(text, refused);
    const words = ['playbook', 'run', 'site.yml', '--dir', ROOT, '--inventory', 'localhost'];
    const playbook = await endOf(/job_\w+/.exec(svc(...words))?.[0] ?? assert.fail());
    assert.deepEqual([playbook.job.state, playbook.job.exit_code], ['failed', null]);
    assert.match(playbook.text, refused);
  });

  test('with --allow-unfiltered-egress both start, and the doctor says so', async (t) => {
    const server = createServer((socket) => socket.end('hello\n'));
    await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
    t.after(() => server.close());
    await restartWith(`Environment=${FREE}`);
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const { job, text } = await command(['bash', '-c', `cat < /dev/tcp/127.0.0.1/${port}`], [443]);
    assert.equal(job.state, 'succeeded', text);
    assert.match(text, /reaches every port \(--allow-unfiltered-egress\)[^]*^hello$/m);
    assert.match((await entry(api, 'sandbox')).detail, /reach every port \(--allow-unfiltered-egress\)/);
    assert.equal((await command(['bash', '-c', `cat < /dev/tcp/127.0.0.1/${port}`], [])).job.state, 'failed');
  });
});
