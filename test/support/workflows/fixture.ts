/** Workflows of steps that run scripts on this machine, for stories over real daemons. */
import assert from 'node:assert/strict';
import type { RunState } from '../../../src/domain/workflows/workflow.ts';
import { until } from '../api-client.ts';
import type { Fixture } from '../fixtures/installation.ts';

export interface Run {
  readonly run_id: string;
  readonly workflow: string;
  readonly state: RunState;
  readonly steps: readonly {
    readonly name: string;
    readonly state: string;
    readonly job_id: string | null;
    readonly reason?: string;
  }[];
}

const LIMIT_MS = 60_000;
const ENDS = ['succeeded', 'degraded', 'failed', 'cancelled', 'interrupted'];
const BEN = { name: 'ben', owner: 'ben' };

/** A step that runs `script` on this machine. */
export const step = (name: string, script: string, more = ''): string =>
  `  - name: ${name}\n    command: [/bin/sh, -c, ${JSON.stringify(script)}]\n    inventory: localhost\n${more}`;

export const add = (fixture: Fixture, name: string, steps: readonly string[], replace = false): Promise<unknown> =>
  fixture.call('workflow.add', { name, text: `steps:\n${steps.join('')}`, replace });

export const start = (fixture: Fixture, name: string, from: readonly string[] = [], as = {}): Promise<Run> =>
  fixture.call<Run>('workflow.run', { name, from }, as);

export const status = (fixture: Fixture, id: string): Promise<Run> => fixture.call<Run>('workflow.status', { run: id });

export const states = ({ steps }: Run): Record<string, string> =>
  Object.fromEntries(steps.map(({ name, state }) => [name, state]));

export function runIs(fixture: Fixture, id: string, wanted: (run: Run) => boolean, what: string): Promise<Run> {
  return until(
    `run ${id} ${what}`,
    async () => {
      const run = await status(fixture, id);
      return wanted(run) ? run : undefined;
    },
    LIMIT_MS,
  );
}

export const ended = (fixture: Fixture, id: string): Promise<Run> =>
  runIs(fixture, id, ({ state }) => ENDS.includes(state), 'has ended');

export const jobOf = (run: Run, name: string): string =>
  run.steps.find((each) => each.name === name)?.job_id ?? assert.fail(`${name} has no job`);

export async function approvalOf(fixture: Fixture, jobId: string) {
  return fixture.store.db.selectFrom('approvals').selectAll().where('job_id', '=', jobId).executeTakeFirstOrThrow();
}

export const decide = (fixture: Fixture, id: string, decision: string, as = BEN): Promise<unknown> =>
  fixture.call('approval.decision', { id, decision }, as);

/** Every job of a step is of exactly one step, and none was made without one. */
export async function requireOneJobEach(fixture: Fixture): Promise<void> {
  const jobs = await fixture.store.db.selectFrom('jobs').select('id').where('trigger', '=', 'workflow').execute();
  const steps = await fixture.store.db
    .selectFrom('workflow_steps')
    .select('job_id')
    .where('job_id', 'is not', null)
    .where('taken_from', 'is', null)
    .execute();
  assert.deepEqual(jobs.map(({ id }) => id).toSorted(), steps.map(({ job_id: id }) => id ?? '').toSorted());
}
