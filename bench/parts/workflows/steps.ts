import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../../kit/bench.ts';
import { type Daemon, getData, queueCommand, startDaemon } from '../../kit/daemon.ts';
import { removeDir, tempDir } from '../../kit/scratch.ts';
import { percentile } from '../../kit/statistics.ts';
import { sleep } from '../../kit/time.ts';

const STEPS = 100;
const LOOK_MS = 100;
const RUN_LOOK_MS = 3_000;

interface Job {
  readonly created_at: string;
  readonly finished_at: string | null;
}

function spanMs(first: string, last: string): number {
  return Date.parse(last) - Date.parse(first);
}

async function finished(daemon: Daemon, path: string): Promise<Job & { readonly finished_at: string }> {
  for (;;) {
    const job = await getData<Job>(daemon, path);
    if (job.finished_at !== null) return { ...job, finished_at: job.finished_at };
    await sleep(LOOK_MS);
  }
}

function step(n: number): string {
  return `  - name: s${n}\n    command: ["true"]\n    inventory: localhost\n`;
}

/** What a step of a workflow costs above its job: a run of 100 steps, each of which needs the one before it. */
export async function workflows({ report, quick }: Bench): Promise<void> {
  const dir = tempDir('workflow');
  const file = join(dir, 'chain.yaml');
  writeFileSync(file, `steps:\n${Array.from({ length: STEPS }, (_, n) => step(n)).join('')}`);
  const daemon = await startDaemon();
  const rounds = quick ? 1 : 3;
  const [alone, steps]: [number[], number[]] = [[], []];
  try {
    await daemon.svc(['workflow', 'add', 'chain', '--file', file]);
    for (let round = 0; round < rounds; round += 1) {
      for (let n = 0; n < 25; n += 1) {
        const { created_at: from, finished_at: to } = await finished(
          daemon,
          `/jobs/${await queueCommand(daemon, ['true'])}`,
        );
        alone.push(spanMs(from, to));
      }
      steps.push((await chain(daemon)) / STEPS);
    }
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
    removeDir(dir);
  }
  report.add({
    name: `a step of a run of ${STEPS}, one after the other: mean`,
    value: percentile(steps, 0.5),
    unit: 'ms',
    floor: { name: 'the same command alone, from queued to ended: p50', value: percentile(alone, 0.5) },
    goal: { aboveFloorAtMost: 30 },
  });
}

interface Run {
  readonly run_id: string;
  readonly state: string;
  readonly steps: readonly { readonly job_id: string | null }[];
}

/** How long a run takes, from its first job to the end of its last one, in milliseconds. */
async function chain(daemon: Daemon): Promise<number> {
  const { run_id: id } = await daemon.svc<Run>(['workflow', 'run', 'chain']);
  for (;;) {
    // Seldom: the command line uses the processor too.
    await sleep(RUN_LOOK_MS);
    const { state, steps } = await daemon.svc<Run>(['workflow', 'status', id]);
    if (state === 'running') continue;
    if (state !== 'succeeded') throw new Error(`the run ended as ${state}`);
    const first = await finished(daemon, `/jobs/${steps[0]?.job_id ?? ''}`);
    const last = await finished(daemon, `/jobs/${steps.at(-1)?.job_id ?? ''}`);
    return spanMs(first.created_at, last.finished_at);
  }
}
