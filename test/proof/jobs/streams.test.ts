/** Clients that do not read, and load from all sides: the daemon's memory and its loop stay within bounds. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { type Api, type EventJson, until } from '../../support/api-client.ts';
import type { RunningDaemon } from '../../support/daemon.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

const STREAMS_PER_OWNER = 4;
const MEMORY_MARGIN_MIB = 64;
/** A reader that reads nothing is cut off after 10 s; its place is free well before this. */
const PLACE_LIMIT_MS = 30_000;
const LAG_P99_LIMIT_MS = 50;
const LAG_MAX_LIMIT_MS = 250;
const LOAD_MS = 4_000;
const CLIENTS = 16;
const ROUNDS = 3;

interface Lag {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const LAG_RECORDER = join(import.meta.dirname, '..', '..', 'support', 'measure', 'lag-recorder.ts');

/** Asks for a stream and stops to read once its answer has begun: from then on it has its place. */
async function stoppedStream(t: TestContext, daemon: RunningDaemon, token: string, jobId: string): Promise<Socket> {
  const { port, host } = new URL(daemon.ready.web_url);
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  t.after(() => void socket.destroy());
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.write(`GET /api/v1/jobs/${jobId}/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  assert.match(head.toString('latin1'), /^HTTP\/1\.1 200 /);
  return socket;
}

function stream(api: Api, jobId: string, since = 0): Promise<Response> {
  const headers = { authorization: `Bearer ${api.token}` };
  return fetch(`${api.baseUrl}/jobs/${jobId}/stream?since=${since}`, { headers });
}

/** The last number among the events that arrived whole. */
function lastSeq(text: string): number {
  return Number([...text.matchAll(/^id: (\d+)\nevent: \w+\ndata: .*\n\n/gm)].at(-1)?.[1] ?? 0);
}

describe('streams and load', () => {
  test('F15: stopped readers cost little memory, are cut off, give their places back', async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start();
    const api = daemon.api(fixture.token);
    const id = await api.run(['/bin/sh', '-c', `yes ${'x'.repeat(100)} | head -n 200000; exec sleep 60`]);
    await until(
      'the output is stored',
      async () => (await api.get<EventJson[]>(`/jobs/${id}/events?since=199990`)).data.length >= 10,
    );
    // What a reader costs that reads is not what is measured.
    await readUpTo(await stream(api, id), 200_000);
    const before = residentMib(daemon.pid);
    const sockets: Socket[] = [];
    for (let n = 0; n < STREAMS_PER_OWNER; n += 1) sockets.push(await stoppedStream(t, daemon, fixture.token, id));
    const refused = await until(
      'all places are taken',
      async () => {
        const answer = await stream(api, id);
        if (answer.status === 503) return answer;
        await answer.body?.cancel();
        return undefined;
      },
      10_000,
    );
    assert.equal(((await refused.json()) as { error: { code: string } }).error.code, 'streams_over_cap');

    // All of them: one that is not cut off yet would be read on to the end of the job.
    const again: Response[] = [];
    await until(
      'all places are free again',
      async () => {
        const answer = await stream(api, id, 200_000);
        if (answer.status === 200) again.push(answer);
        return again.length === STREAMS_PER_OWNER;
      },
      PLACE_LIMIT_MS,
    );
    for (const answer of again) await answer.body?.cancel();
    const grown = residentMib(daemon.pid) - before;
    assert.ok(grown <= MEMORY_MARGIN_MIB, `${grown} MiB more for ${STREAMS_PER_OWNER} stopped readers`);
    t.diagnostic(`resident memory +${grown} MiB`);

    const late = await readAll(sockets[0]!);
    const seq = lastSeq(late);
    assert.ok(seq > 0 && seq < 200_000, `what was cut off ends with ${seq}`);
    const next = await api.get<EventJson[]>(`/jobs/${id}/events?since=${seq}`);
    assert.equal(next.data[0]?.seq, seq + 1);
    assert.equal((await api.post(`/jobs/${id}/cancel`)).status, 200);
  });

  test(
    `F16: under load from ${CLIENTS} clients and a job that floods its output, the event loop is late by at ` +
      `most ${LAG_MAX_LIMIT_MS} ms`,
    async (t) => {
      const fixture = await openFixture(t);
      const files = ['daemon', 'machine'].map((name) => join(fixture.dir, `${name}.json`)) as [string, string];
      const daemon = await fixture.start({
        nodeArgs: ['--import', LAG_RECORDER],
        env: { GATEHOUSE_LAG_FILE: files[0] },
        args: ['--max-jobs', '1'],
      });
      const machine = fork(LAG_RECORDER, {
        execArgv: [],
        env: { ...process.env, GATEHOUSE_LAG_FILE: files[1], GATEHOUSE_SYNC_FILE: join(fixture.dir, 'synced') },
      });
      t.after(() => machine.disconnect());
      await once(machine, 'message');
      const pids = [daemon.pid, machine.pid ?? 0];
      const api = daemon.api(fixture.token);
      const measure = async (): Promise<Overrun> => {
        const flood = await api.run(['/bin/sh', '-c', `yes ${'x'.repeat(100)} | head -c 200M; exec sleep 60`]);
        await api.waitFor(flood, ['running']);
        await readLags(pids, files);
        const answers = await putUnderLoad(api);
        const [lag, idle] = (await readLags(pids, files)) as [Lag, Lag];
        assert.equal((await api.post(`/jobs/${flood}/cancel`)).status, 200);
        const figures = [lag, idle].map(({ p50, p99, max }) => [p50, p99, max].map((ms) => ms.toFixed(1)).join(' / '));
        t.diagnostic(
          `${answers} answers in ${LOAD_MS / 1000} s; late by ${figures[0]} ms (p50, p99, max), a process ` +
            `that only syncs by ${figures[1]} ms`,
        );
        // How late a process is that does next to nothing is the machine's, not ours.
        return { p99: lag.p99 - idle.p99 - LAG_P99_LIMIT_MS, max: lag.max - idle.max - LAG_MAX_LIMIT_MS };
      };
      // A stall of ours is there each time; one of a machine with other things to do is not.
      let overrun = await measure();
      for (let again = 1; again < ROUNDS && !isWithin(overrun); again += 1) {
        await fixture.store.write(
          async (tx) => void (await tx.db.deleteFrom('jobs').where('state', '=', 'queued').execute()),
        );
        overrun = await measure();
      }
      assert.ok(isWithin(overrun), `late by ${overrun.p99} ms (p99) and ${overrun.max} ms (longest) more than allowed`);
      assert.equal(await daemon.stop(), 0);
    },
  );
});

/** How far the limits were exceeded; below 0 where they were not. */
interface Overrun {
  readonly p99: number;
  readonly max: number;
}

function isWithin({ p99, max }: Overrun): boolean {
  return p99 <= 0 && max <= 0;
}

/** The lags of these processes since this was asked last. */
async function readLags(pids: readonly number[], files: readonly string[]): Promise<Lag[]> {
  for (const file of files) rmSync(file, { force: true });
  for (const pid of pids) process.kill(pid, 'SIGUSR2');
  await until('both have written their figures', () => files.every((file) => existsSync(file)));
  return files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Lag);
}

async function putUnderLoad(api: Api): Promise<number> {
  const end = performance.now() + LOAD_MS;
  let answers = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const id = await api.run(['/bin/true']);
      assert.equal((await api.job(id)).state, 'queued');
      assert.equal((await api.get('/jobs?limit=50')).status, 200);
      answers += 3;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return answers;
}

/** Reads a stream up to the event of this number, then leaves. */
async function readUpTo(answer: Response, seq: number): Promise<void> {
  let text = '';
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text = (text + chunk).slice(-100_000);
    if (lastSeq(text) >= seq) return;
  }
}

function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.resume();
  return new Promise((resolve) => socket.once('close', () => resolve(text)));
}

function residentMib(pid: number): number {
  return Math.round(
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024,
  );
}
