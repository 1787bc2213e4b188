/**
 * Daemons are killed at random moments over running workflows with steps in sequence and in parallel. Used in a short
 * form by `npm test` and in a long one by `npm run chaos`.
 */
import { join } from 'node:path';
import type { StepState, Workflow } from '../../../src/domain/workflows/workflow.ts';
import { until } from '../../support/api-client.ts';
import { NotReady, type StartingDaemon } from '../../support/daemon.ts';
import { type Ending, type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { seeded, type Seeded } from '../../support/seeded.ts';
import { checkWorkflows, type WorkflowHistory, type WorkflowViolation } from './workflow-checker.ts';

export interface WorkflowKillOptions {
  readonly postgres: boolean;
  readonly daemons: number;
  readonly kills: number;
  readonly seed: number;
}

interface WorkflowKillFigures {
  readonly kills: number;
  readonly runs: number;
  readonly jobs: number;
  readonly interrupted: number;
}

interface WorkflowKillResult {
  readonly violations: readonly WorkflowViolation[];
  readonly figures: WorkflowKillFigures;
}

const LEASE = '2s';
/** A kill comes this long after the daemon is ready, at most: some steps end in that time. */
const KILL_WITHIN_MS = 1_000;
/** One in four kills comes while the daemon starts. */
const IN_START_SHARE = 0.25;
const OPEN_RUNS_MAX = 4;
const SETTLE_LIMIT_MS = 120_000;

/** A line, a fan and a join; short steps, so that a kill often meets the end of one. */
const WORKFLOW = [
  step('a', '', 0.02),
  step('b', '[a]', 0.05),
  step('c', '[a]', 0),
  step('d', '[a]', 0.1),
  step('e', '[b, c, d]', 0),
  step('f', '[e]', 0.02),
];

function step(name: string, needs: string, seconds: number): string {
  const script = `echo start; sleep ${seconds}`;
  const fields = [`needs: ${needs || '[]'}`, `command: [/bin/sh, -c, "${script}"]`, 'inventory: localhost'];
  return `  - name: ${name}\n${fields.map((field) => `    ${field}\n`).join('')}`;
}

export async function runWorkflowKills(
  ending: Ending,
  { postgres, daemons, kills, seed }: WorkflowKillOptions,
): Promise<WorkflowKillResult> {
  const fixture = await openFixture(ending, { postgres });
  await fixture.call('workflow.add', { name: 'w', text: `steps:\n${WORKFLOW.join('')}` });
  const chance = seeded(seed);
  const spawn = (index: number): StartingDaemon =>
    fixture.spawn({ dataDir: join(fixture.dir, postgres ? `data-${index}` : 'data'), args: ['--lease', LEASE] });
  const seats = Array.from({ length: daemons }, (_, index) => spawn(index));
  const started: string[] = [];
  for (let n = 0; n < kills; n += 1) {
    await fill(fixture, started);
    const index = chance.whole(0, daemons - 1);
    await killOne(seats[index] ?? spawn(index), chance);
    seats[index] = spawn(index);
  }
  await Promise.all(seats.map((seat) => seat.ready));
  // A run that does not end by then is reported by its id.
  await until('every run has ended', async () => (await openRuns(fixture)) === 0, SETTLE_LIMIT_MS).catch(
    () => undefined,
  );
  const history = await readHistory(fixture, started);
  const interrupted = history.jobs.filter(({ state }) => state === 'interrupted').length;
  const figures = { kills, runs: history.runs.length, jobs: history.jobs.length, interrupted };
  return { violations: checkWorkflows(history), figures };
}

async function fill(fixture: Fixture, started: string[]): Promise<void> {
  for (let open = await openRuns(fixture); open < OPEN_RUNS_MAX; open += 1)
    started.push((await fixture.call<{ run_id: string }>('workflow.run', { name: 'w' })).run_id);
}

async function openRuns(fixture: Fixture): Promise<number> {
  const rows = await fixture.store.db.selectFrom('workflow_runs').select('id').where('state', '=', 'running').execute();
  return rows.length;
}

async function killOne(daemon: StartingDaemon, chance: Seeded): Promise<void> {
  if (chance.next() >= IN_START_SHARE) await daemon.ready;
  await new Promise((resolve) => setTimeout(resolve, chance.whole(0, KILL_WITHIN_MS)));
  await daemon.kill();
  // A daemon that was killed while it started has not become ready; anything else is a fault.
  await daemon.ready.catch((error: unknown) => {
    if (!(error instanceof NotReady) || error.refusal.exitCode !== null) throw error;
  });
}

async function readHistory(fixture: Fixture, started: readonly string[]): Promise<WorkflowHistory> {
  const { db } = fixture.store;
  const steps = await db.selectFrom('workflow_steps').selectAll().orderBy('position').execute();
  const runs = (await db.selectFrom('workflow_runs').selectAll().execute()).map(({ id, state, definition }) => ({
    id,
    state,
    definition: (JSON.parse(definition) as Workflow).steps,
    steps: steps
      .filter((each) => each.run_id === id)
      .map((each) => ({ name: each.name, state: each.state as StepState, jobId: each.job_id })),
  }));
  const jobs: WorkflowHistory['jobs'][number][] = [];
  for (const { id, state } of await db.selectFrom('jobs').select(['id', 'state']).execute()) {
    const events = await fixture.events(id);
    const starts = events.filter((event) => event.type === 'log' && event.text === 'start').length;
    const claims = events.filter((event) => event.type === 'state' && event.state === 'running').length;
    jobs.push({ id, state, starts, claims });
  }
  return { started, runs, jobs };
}

/** One line for people. */
export function describeWorkflowFigures({ kills, runs, jobs, interrupted }: WorkflowKillFigures): string {
  return `${kills} kills, ${runs} runs, ${jobs} jobs of steps, ${interrupted} interrupted`;
}
