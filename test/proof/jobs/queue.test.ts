/** The queue as those who wait in it see it, and the command line that waits with them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { until } from '../../support/api-client.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');
const JOBS = 12;
/**
 * Two jobs of one slot must not need a pass of the queue between them. It comes once a second: if it were needed, each
 * job would begin a second after the one before. A busy machine is that slow only at times.
 */
const WITHOUT_PASS_MS = 900;

interface CliEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function svc(fixture: Fixture, ...args: string[]): Promise<CliEnd> {
  const [verb, ...rest] = splitAt(args, '--');
  const place = ['--data-dir', join(fixture.dir, 'data'), '--seal-key-file', join(fixture.dir, 'seal.key')];
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', MAIN, ...verb!, ...place, ...rest.flat()],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

function splitAt(args: readonly string[], mark: string): string[][] {
  const at = args.indexOf(mark);
  return at < 0 ? [[...args], []] : [args.slice(0, at), args.slice(at)];
}

describe('the queue', () => {
  test('jobs of one slot start in the order in which they were queued, one right after the other', async (t) => {
    const fixture = await openFixture(t);
    const ids: string[] = [];
    for (let n = 0; n < JOBS; n += 1) ids.push(await fixture.queue({ command: fixture.witness.command(`k${n}`, 0) }));
    await fixture.start({ args: ['--max-jobs', '1'] });
    await fixture.waitFor(ids.at(-1)!, ['succeeded']);
    const starts = fixture.witness.lines().filter((line) => line.what === 'start');
    assert.deepEqual(
      starts.map((line) => line.jobId),
      ids,
    );
    const pauses = starts.slice(1).map((line, n) => line.atMs - starts[n]!.atMs);
    const answer = pauses.map((ms) => ms.toFixed(0)).join(', ');
    const quick = pauses.filter((ms) => ms < WITHOUT_PASS_MS).length;
    assert.ok(quick >= pauses.length / 4, `milliseconds from one start to the next: ${answer}`);
    t.diagnostic(`milliseconds from one start to the next: ${answer}`);
  });

  test('jobs of one key run one at a time and in order, and those of other keys pass them', async (t) => {
    const fixture = await openFixture(t);
    const queue = (key: string, seconds: number): Promise<string> =>
      fixture.queue({ command: fixture.witness.command(key, seconds), key });
    const first = await queue('a', 2);
    const second = await queue('a', 0);
    const third = await queue('a', 0);
    const other = await queue('b', 0);
    await fixture.start();
    await fixture.waitFor(third, ['succeeded']);
    const lines = fixture.witness.lines();
    assert.deepEqual(lines.filter((line) => line.key === 'a').map((line) => [line.what, line.jobId]), [
      ['start', first], ['end', first], ['start', second], ['end', second], ['start', third], ['end', third],
    ]); // prettier-ignore
    const position = (what: string, id: string): number =>
      lines.findIndex((line) => line.what === what && line.jobId === id);
    assert.ok(position('end', other) < position('end', first), 'another key did not wait');
  });

  test('the command line that waits ends with the exit code of the job, in both forms', async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start();
    for (const [command, code] of [
      [['/bin/true'], 0],
      [['/bin/sh', '-c', 'echo out; exit 7'], 7],
      [['/no/such/command'], 1],
    ] as const) {
      const text = await svc(fixture, 'command', 'run', '--inventory', 'localhost', '--wait', '--', ...command);
      assert.equal(text.code, code, text.stderr);
      const json = await svc(
        fixture,
        'command',
        'run',
        '--inventory',
        'localhost',
        '--wait',
        '--output',
        'json',
        '--',
        ...command,
      );
      assert.equal(json.code, code, json.stderr);
      const result = JSON.parse(json.stdout) as { kind: string; data: { hosts: { rc: number | null }[] } };
      assert.equal(result.kind, 'command.result');
      assert.equal(result.data.hosts[0]?.rc, command[0] === '/no/such/command' ? null : code);
    }
    const api = daemon.api(fixture.token);
    const id = await api.run(['/bin/sh', '-c', 'sleep 1; exit 9']);
    const wait = await svc(fixture, 'job', 'wait', id, '--output', 'json');
    assert.equal(wait.code, 9, wait.stderr);
    assert.equal(wait.stdout, (await api.get(`/jobs/${id}`)).text, 'the bytes are those of the API');
  });

  test('the command line is woken at once where another process enqueues, cancels and finishes', async (t) => {
    const fixture = await openFixture(t);
    const api = (await fixture.start()).api(fixture.token);
    const waiting = svc(
      fixture,
      'command',
      'run',
      '--inventory',
      'localhost',
      '--wait',
      '--',
      '/bin/sh',
      '-c',
      'echo up; exec sleep 300',
    );
    const id = await until('the job prints', async () => {
      const [job] = (await api.get<{ id: string }[]>('/jobs?state=running')).data;
      const printed = job === undefined ? [] : (await api.events(job.id)).filter((event) => event.text === 'up');
      return printed.length > 0 ? job?.id : undefined;
    });
    assert.equal((await svc(fixture, 'job', 'cancel', id)).code, 0);
    const end = await waiting;
    assert.equal(end.code, 143, end.stderr);
    assert.match(end.stdout, /up/);
  });
});
