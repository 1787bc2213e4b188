import { askFor, askUntil } from '../../kit/asking.ts';
import type { Bench } from '../../kit/bench.ts';
import { getData, queueCommand, startDaemon, type Daemon } from '../../kit/daemon.ts';
import { removeDir } from '../../kit/scratch.ts';
import { percentile } from '../../kit/statistics.ts';
import { until } from '../../kit/time.ts';

/** Each ends by itself within a minute, if nothing stops it. */
const BOMBS: Readonly<Record<string, string>> = {
  'starts processes without end':
    'my $n = 0; while ($n++ < 2000) { my $p = fork; last if !defined $p; if (!$p) { sleep 60; exit } } sleep 60',
  'starts processes in new sessions, which compute':
    'use POSIX; my $n = 0; while ($n++ < 2000) { my $p = fork; last if !defined $p; ' +
    'if (!$p) { setsid; my $q = fork; exit if $q; 1 while times < 30; exit } waitpid $p, 0 } sleep 60',
  'fills memory without end': 'my @all; for (1..1500) { push @all, "x" x (1 << 20) } sleep 60',
};
const FLAGS = ['--job-memory', '128MiB', '--job-processes', '100'];
const ASK_EVERY_MS = 5;
const BOMB_LIMIT_MS = 90_000;
const ROUNDS = 5;

/** The API's times while one bomb ran; throws when nothing stopped it. */
async function timesDuring(daemon: Daemon, script: string): Promise<number[]> {
  const id = await queueCommand(daemon, ['timeout', '--signal=KILL', '60', 'perl', '-e', script]);
  let over = false;
  const ended = until('the end of a bomb', BOMB_LIMIT_MS, 50, async () => {
    const { state } = await getData<{ state: string }>(daemon, `/jobs/${id}`);
    return state !== 'queued' && state !== 'running';
  }).finally(() => {
    over = true;
  });
  const [{ latencies }] = await Promise.all([askUntil(daemon, () => over, ASK_EVERY_MS), ended]);
  const { exit_code } = await getData<{ exit_code: number | null }>(daemon, `/jobs/${id}`);
  if (exit_code !== 137) throw new Error(`a bomb ended with ${String(exit_code)}: nothing stopped it`);
  return latencies;
}

/** The API while a job takes processes or memory without end. How it is stopped depends on the machine. */
export async function bombs({ report, quick }: Bench): Promise<void> {
  const daemon = await startDaemon({ flags: FLAGS });
  try {
    const before = await askFor(daemon, 1_000);
    const floor = { name: 'idle: p50', value: percentile(before.latencies, 0.5) };
    for (const [what, script] of Object.entries(BOMBS)) {
      const times: number[] = [];
      for (let round = 0; round < (quick ? 1 : ROUNDS); round += 1) times.push(...(await timesDuring(daemon, script)));
      report.add({
        name: `a job ${what}: API p99 (${times.length} answers)`,
        value: percentile(times, 0.99),
        unit: 'ms',
        floor,
        goal: { atMost: 250 },
      });
    }
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
  }
}
