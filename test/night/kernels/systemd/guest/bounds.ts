/** The bounds of a job, which the kernel enforces by its control group, and the API while a job tries to break them. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Api, until } from '../../../../support/api-client.ts';
import { FLOOR_PORT, GROUP, mainPid, openApi, outputOf, ran, restartWith, run } from './service.ts';

/** Where the processors are real. */
const P99_MS = 250;
/**
 * An emulated processor is slower than that without a job: there the API may slow down so much more than a server does
 * that has nothing to do with it.
 */
const SLOWER = 4;
const FLOOR = `http://127.0.0.1:${FLOOR_PORT}/`;
const CALM_MS = 30_000;
const ASK_EVERY_MS = 5;
/** Fewer say nothing. */
const ANSWERS_MIN = 100;
const BOMB_LIMIT_MS = 90_000;
const BOUNDS = 'Environment=SVC_JOB_MEMORY=128MiB SVC_JOB_PROCESSES=40';

/** Each ends by itself within a minute and a half, if nothing stops it. */
const BOMBS = [
  {
    what: 'starts processes without end',
    script: 'my $n = 0; while ($n++ < 2000) { my $p = fork; next if !defined $p; if (!$p) { sleep 60; exit } } sleep 5',
    says: /^The job reached its limit of 40 processes and threads \(\d+ refused\)\.$/m,
    ends: ['succeeded', 'failed'],
  },
  {
    what: 'starts processes in new sessions, which compute without pause',
    script:
      'use POSIX; my $n = 0; while ($n++ < 2000) { my $p = fork; next if !defined $p; ' +
      'if (!$p) { setsid; my $q = fork; exit if $q; 1 while times < 20; exit } waitpid $p, 0 } sleep 5',
    says: /^The job reached its limit of 40 processes and threads \(\d+ refused\)\.$/m,
    ends: ['succeeded', 'failed'],
  },
  {
    what: 'fills memory without end',
    script: 'my @all; for (1..1500) { push @all, "x" x (1 << 20) } sleep 60',
    says: /^The job used more than 128 MiB of memory and was ended\.$/m,
    ends: ['failed'],
  },
  {
    what: 'fills memory from many processes',
    script: 'for (1..20) { fork or do { my $x = "y" x (30 << 20); sleep 60; exit } } sleep 60',
    says: /^The job used more than 128 MiB of memory and was ended\.$/m,
    ends: ['failed'],
  },
];

interface Times {
  readonly api: number[];
  readonly floor: number[];
}

let api: Api;
let calm: Times;
/** While a job runs that tries to break its bounds. */
const beside: Times = { api: [], floor: [] };

async function timed(ask: () => Promise<{ readonly status: number }>): Promise<number> {
  const begun = performance.now();
  assert.equal((await ask()).status, 200);
  return performance.now() - begun;
}

/** Asks the API and the floor by turns; the time of each answer in milliseconds. */
async function askUntil<T>(end: Promise<T>): Promise<{ value: T; times: Times }> {
  const over = new AbortController();
  const ended = end.finally(() => over.abort());
  const times: Times = { api: [], floor: [] };
  while (!over.signal.aborted) {
    times.api.push(await timed(() => api.get('/jobs?limit=1')));
    times.floor.push(await timed(() => fetch(FLOOR)));
    await pause(ASK_EVERY_MS);
  }
  return { value: await ended, times };
}

function at(share: number, times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0;
}

const floorAnswers = (): Promise<boolean> =>
  fetch(FLOOR).then(
    () => true,
    () => false,
  );

const both = (times: readonly number[]): string =>
  `p50 ${at(0.5, times).toFixed(0)}, p99 ${at(0.99, times).toFixed(0)}`;

describe('The bounds of a job', () => {
  before(async () => {
    await restartWith(BOUNDS);
    api = openApi();
    run('systemd-run', '--unit', 'floor', process.execPath, join(import.meta.dirname, 'floor.ts'));
    await until('the floor answers', floorAnswers);
    // The first job starts the guard.
    await ran(api, 'true');
    calm = (await askUntil(pause(CALM_MS))).times;
  });
  after(() => run('systemctl', 'stop', 'floor'));

  for (const { what, script, says, ends } of BOMBS)
    test(`T78: a job that ${what} is bounded by the kernel`, async (t) => {
      const daemon = mainPid();
      const begun = performance.now();
      const id = await api.run(['timeout', '--signal=KILL', '90', 'perl', '-e', script]);
      const { value: job, times } = await askUntil(api.waitFor(id, undefined, BOMB_LIMIT_MS));
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
      t.diagnostic(
        `${times.api.length} answers in ${seconds} s: ${both(times.api)} ms; the floor: ${both(times.floor)} ms`,
      );
      beside.api.push(...times.api);
      beside.floor.push(...times.floor);
      const { system } = await outputOf(api, id);
      assert.ok(ends.includes(job.state), `${job.state}: ${system}`);
      assert.match(system, says);
      await until('the group of the job is removed', () => !readdirSync(GROUP).includes(`job-${id}`));
      assert.equal(mainPid(), daemon, 'the same daemon');
    });

  // Over all of them: beside a job that soon ends there are ten answers, whose middle is chance.
  test('T78: the API answers beside them', (t) => {
    t.diagnostic(`beside them: ${both(beside.api)} ms; the floor: ${both(beside.floor)} ms`);
    t.diagnostic(`without them: ${both(calm.api)} ms; the floor: ${both(calm.floor)} ms`);
    assert.ok(beside.api.length >= ANSWERS_MIN, `${beside.api.length} answers`);
    const share = at(0.5, beside.api) / at(0.5, calm.api) / (at(0.5, beside.floor) / at(0.5, calm.floor));
    assert.ok(at(0.99, beside.api) <= P99_MS || share <= SLOWER, `${share.toFixed(1)} times as slow`);
  });
});
