/**
 * A stand-alone program, in a separate mount namespace: `node disk-full-story.ts DIR store|everything`. Mounts a small
 * disk on DIR, lets a daemon work there, fills it in the middle of an apply, and makes room again. Ends with 0 if all
 * expectations hold, and prints those that do not.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type Api, until } from '../api-client.ts';
import { runsDirFor } from '../daemon.ts';
import { addWorkspace, linesOf, runToEnd, planViewOf } from '../infrastructure.ts';
import { keptState } from './kept-state.ts';
import { openFixture, processesOf, type Fixture } from '../fixtures/installation.ts';

const DISK = 'size=64m,mode=0711';
/** After room has returned everything works within this, without a restart. */
const BACK_LIMIT_MS = 5_000;
/** Where a start takes seconds, this takes longer too. */
const BACK_LIMIT_STARTS = 4;
/** More than fits into what a file system has left in its last page. */
const BIG = '"${join("", [for n in range(400) : "0123456789"])}${count.index}"';
const MADE_WHILE_FULL = 10;

function mount(dir: string): void {
  const done = spawnSync('mount', ['-t', 'tmpfs', '-o', DISK, 'gatehouse', dir], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
}

/** Takes all the room that is left; the result gives it back. */
function fill(dir: string): () => void {
  const path = join(dir, 'filler');
  const file = openSync(path, 'w');
  for (let size = 1024 * 1024; size >= 1;) {
    try {
      writeSync(file, Buffer.alloc(size));
    } catch {
      size = Math.floor(size / 2);
    }
  }
  closeSync(file);
  return () => rmSync(path);
}

interface Gate {
  readonly port: number;
  /** Somebody waits. */
  readonly waiting: () => boolean;
  open(): void;
  close(): void;
}

/** A provisioner reads a line from here, which comes when the gate opens. */
async function startGate(): Promise<Gate> {
  const waiting = new Set<Socket>();
  let isOpen = false;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (isOpen) socket.end('go\n');
    else waiting.add(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    waiting: () => waiting.size > 0,
    open() {
      isOpen = true;
      for (const socket of waiting) socket.end('go\n');
    },
    close: () => void server.close(),
  };
}

function rootOf({ port }: Gate): string {
  const wait =
    '  provisioner "local-exec" {\n    interpreter = ["/bin/bash", "-c"]\n' +
    `    command = "read line < /dev/tcp/127.0.0.1/${port}"\n  }\n`;
  return [
    `resource "terraform_data" "before" { input = 1 }`,
    `resource "terraform_data" "gate" {\n  depends_on = [terraform_data.before]\n${wait}}`,
    `resource "terraform_data" "made" {\n  count = ${MADE_WHILE_FULL}\n  input = ${BIG}\n  depends_on = ` +
      '[terraform_data.gate]\n}',
  ].join('\n');
}

/** What a stream has said, from its beginning. */
function follow(api: Api, path: string): { readonly text: () => string; stop(): void } {
  const stop = new AbortController();
  let text = '';
  const read = async (): Promise<void> => {
    const response = await fetch(`${api.baseUrl}${path}`, {
      headers: { authorization: `Bearer ${api.token}` },
      signal: stop.signal,
    });
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  };
  read().catch(() => (text += '\n[cut]'));
  return { text: () => text, stop: () => stop.abort() };
}

/** Whatever is answered with 2xx is there; before long all that writes is refused, with words that help. */
async function refusesWrites(fixture: Fixture, api: Api): Promise<void> {
  const result: string[] = [];
  await until('writes are refused', async () => {
    const answer = await api.post<{ job_id: string }>('/commands/run', {
      inventory: 'localhost',
      command: ['/bin/true'],
    });
    if (answer.status === 202) result.push(answer.data.job_id);
    else assert.equal(answer.status, 503, answer.text);
    return answer.status === 503;
  });
  for (const id of result) assert.equal((await fixture.row(id)).kind, 'command');
  for (const [path, body] of [
    ['/commands/run', { inventory: 'localhost', command: ['/bin/true'] }],
    ['/workspaces/other/plan', {}],
    ['/workspaces/other/apply', {}],
    ['/maintenance/cordon', {}],
  ] as const) {
    const { status, error, text } = await api.post(path, body);
    assert.deepEqual([status, error?.code], [503, 'unavailable'], `${path}: ${text}`);
    assert.ok((error?.hint ?? '').length > 10 && /full/.test(error?.message ?? ''), text);
  }
}

async function reads(api: Api, jobId: string): Promise<void> {
  for (const path of [
    '/whoami',
    '/jobs',
    `/jobs/${jobId}`,
    `/jobs/${jobId}/events`,
    '/workspaces',
    '/approvals',
    '/health',
  ]) {
    const { status, text } = await api.get(path);
    assert.equal(status, 200, `${path}: ${text}`);
  }
}

async function story(fixture: Fixture, gate: Gate, what: string): Promise<void> {
  const daemon = await fixture.start();
  const api = daemon.api(fixture.token);
  await addWorkspace(fixture, 'net', rootOf(gate));
  await addWorkspace(fixture, 'other', 'resource "terraform_data" "one" {}\n');
  const id = (await api.post<{ job_id: string }>('/workspaces/net/apply', {})).data.job_id;
  await until('the apply is in the middle', () => gate.waiting());
  const [output, approvals] = [follow(api, `/jobs/${id}/stream`), follow(api, '/approvals/stream')];
  await until(
    'the streams have begun',
    () => output.text().includes('before') && approvals.text().includes('event: approvals'),
  );

  const makeRoom = fill(fixture.dir);
  await refusesWrites(fixture, api);
  gate.open();
  await until('terraform has ended', () => processesOf(new Set([id])).length === 0);
  await reads(api, id);
  await refusesWrites(fixture, api);
  assert.equal((await api.job(id)).state, 'running', 'the end of the run cannot have been written');
  const late = follow(api, `/jobs/${id}/stream`);
  await until('a stream begins on a full disk', () => late.text().includes('before'));

  makeRoom();
  const roomAt = performance.now();
  const end = await api.waitFor(id, ['succeeded', 'failed']);
  const next = await api.run(['/bin/true']);
  assert.equal((await api.waitFor(next)).state, 'succeeded');
  const backMs = performance.now() - roomAt;
  const limitMs = Math.max(BACK_LIMIT_MS, BACK_LIMIT_STARTS * daemon.startMs);
  assert.ok(backMs <= limitMs, `it took ${backMs} ms to work again, where at most ${limitMs} ms are allowed`);
  await until('the streams have ended with the job', () =>
    [output, late].every((each) => each.text().includes('event: end')),
  );
  for (const each of [output, late, approvals]) assert.ok(!each.text().includes('[cut]'), 'a stream was cut');
  for (const each of [output, late, approvals]) each.stop();

  const lines = (await linesOf(fixture, id)).join('\n');
  // Where terraform had no room either it has failed, and says so; the service knows all the same what it made.
  assert.deepEqual([end.state, end.exit_code], what === 'store' ? ['succeeded', 0] : ['failed', 1], lines);
  const state = await keptState(fixture, 'net');
  assert.deepEqual([state?.jobId, state?.resources.size], [id, 2 + MADE_WHILE_FULL]);
  assert.ok(
    !lines.includes('"lineage"') && !lines.includes('"attributes"'),
    'the raw state is in the record of the job',
  );
  const plan = await runToEnd(fixture, 'plan', 'net');
  assert.equal(plan.state, 'succeeded', (await linesOf(fixture, plan.id)).join('\n'));
  const view = await planViewOf(fixture, plan.plan_artifact_id ?? '');
  const completed = [...lines.matchAll(/terraform_data\.(\S+): Creation complete/g)].map(([, name]) => name);
  const forgotten = view.creates
    .map((entry) => entry.address.replace('terraform_data.', ''))
    .filter((name) => completed.includes(name));
  assert.deepEqual(forgotten, [], 'these were made, and the next plan does not know');
  assert.equal(await daemon.stop(), 0);
}

const [dir, what] = process.argv.slice(2);
if (process.argv[1] === import.meta.filename && dir !== undefined && what !== undefined) {
  mount(dir);
  process.env['TMPDIR'] = dir;
  const steps: (() => Promise<void>)[] = [];
  const gate = await startGate();
  try {
    const fixture = await openFixture({ after: (step) => void steps.push(step) });
    const runs = runsDirFor(join(fixture.dir, 'data'));
    mkdirSync(runs);
    if (what === 'store') mount(runs);
    await story(fixture, gate, what);
  } finally {
    for (const step of steps.toReversed()) await step().catch(() => undefined);
    gate.close();
  }
}
