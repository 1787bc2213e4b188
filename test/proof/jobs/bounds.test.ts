/** What a job may use of the machine, and what the other jobs get while it runs. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Api, JobJson } from '../../support/api-client.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

const FLAGS = ['--job-memory', '128MiB', '--job-processes', '100'];

interface Bomb {
  readonly what: string;
  /** Bounded by itself too: if nothing else stops it, it ends within a minute and does no harm. */
  readonly script: string;
  readonly says: RegExp;
}

const BOMBS: readonly Bomb[] = [
  {
    what: 'starts processes without end',
    script:
      'my $n = 0; while ($n++ < 2000) { my $p = fork; last if !defined $p; if (!$p) { sleep 60; exit } } sleep 60',
    says: /^The job (?:had more than 100 processes and threads and was ended|reached its limit of 100 processes)/,
  },
  {
    what: 'starts processes that start processes, each in a separate session',
    // Some compute: with all of them a slow machine would not get to the bound.
    script:
      'use POSIX; my $n = 0; while ($n++ < 2000) { my $p = fork; last if !defined $p; if (!$p) { setsid; ' +
      'my $q = fork; exit if $q; if ($n <= 8) { 1 while times < 30 } else { sleep 60 } exit } waitpid $p, 0 } sleep 60',
    says: /^The job (?:had more than 100 processes and threads and was ended|reached its limit of 100 processes)/,
  },
  {
    what: 'fills memory without end',
    script: 'my @all; for (1..1500) { push @all, "x" x (1 << 20) } sleep 60',
    says: /^The job used more than 128 MiB of memory and was ended\.$/,
  },
];

const ASK_EVERY_MS = 5;
/** Beyond the minute after which a bomb ends by itself. */
const BOMB_LIMIT_MS = 90_000;

/** Asks again and again until the job has ended; the time of each answer in milliseconds. */
async function askDuring(api: Api, id: string): Promise<{ end: JobJson; times: number[] }> {
  const over = new AbortController();
  const end = api.waitFor(id, undefined, BOMB_LIMIT_MS).finally(() => over.abort());
  const times: number[] = [];
  while (!over.signal.aborted) {
    const begun = performance.now();
    const { status } = await api.get('/jobs?limit=1');
    times.push(performance.now() - begun);
    assert.equal(status, 200);
    // Without it the daemon alone would take the processors, and the job never reach its bound.
    await pause(ASK_EVERY_MS);
  }
  return { end: await end, times };
}

function report(t: TestContext, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  t.diagnostic(`${times.length} answers while it ran: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
}

describe('the bounds of a job', () => {
  for (const { what, script, says } of BOMBS) {
    test(`T78: a job that ${what} is stopped, its output says why, and the API answers`, async (t) => {
      const fixture = await openFixture(t);
      const api = (await fixture.start({ args: FLAGS })).api(fixture.token);
      const calm = await api.run(['/bin/sh', '-c', 'sleep 2; echo calm']);
      const bomb = await api.run(['timeout', '--signal=KILL', '60', 'perl', '-e', script]);
      const { end, times } = await askDuring(api, bomb);
      report(t, times);
      assert.deepEqual([end.state, end.exit_code], ['failed', 137]);
      const lines = (await fixture.events(bomb)).flatMap((event) =>
        event.type === 'log' && event.stream === 'system' ? [event.text] : [],
      );
      assert.ok(
        lines.some((line) => says.test(line)),
        lines.join('\n'),
      );
      assert.equal((await api.waitFor(calm)).state, 'succeeded');
    });
  }

  test('the doctor of the daemon says how the bounds hold', async (t) => {
    const fixture = await openFixture(t);
    const api = (await fixture.start()).api(fixture.token);
    const { data } = await api.get<{ name: string; detail: string }[]>('/health');
    assert.match(
      data.find(({ name }) => name === 'sandbox')?.detail ?? '',
      /; memory and processes of each job: (?:enforced by control groups|best effort, because .+)$/,
    );
  });
});
