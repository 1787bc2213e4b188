/** Workspaces and saved plans as runs leave them, and the operations that only the command line has. */
import assert from 'node:assert/strict';
import { localCaller } from '../../src/domain/caller.ts';
import type { Verdict } from '../../src/domain/plan.ts';
import { newId } from '../../src/lib/id.ts';
import { invoke } from '../../src/operations/invoke.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { insertArtifact } from '../../src/store/artifacts.ts';
import type { ArtifactRow } from '../../src/store/schema.ts';
import { insertWorkspace, moveWorkspace, type NewWorkspace } from '../../src/store/workspaces.ts';
import type { Program } from './program.ts';
import { type Scenario, send } from './scenario.ts';
import { workspaceRow } from './workspace-row.ts';

export const LINEAGE = '6d1f0c5e-0000-4000-8000-000000000001';

export interface MadeWorkspace extends Partial<NewWorkspace> {
  /** Of the state that it has; without, it has none yet. */
  readonly serial?: number;
}

export async function makeWorkspace(
  program: Program,
  name: string,
  { serial, ...some }: MadeWorkspace = {},
): Promise<void> {
  await program.store.write(async (tx) => {
    await insertWorkspace(tx, workspaceRow(name, some));
    if (serial !== undefined) await moveWorkspace(tx, name, { serial, lineage: LINEAGE, byJob: null, via: null });
  });
}

/** Answers the id of a saved plan that was made from serial 3. What is sealed in it is made up. */
export async function makePlan(
  program: Program,
  workspace: string,
  verdict: Verdict | null,
  some: Partial<Omit<ArtifactRow, 'created_at' | 'consumed_by'>> = {},
): Promise<string> {
  const artifact: Omit<ArtifactRow, 'created_at' | 'consumed_by'> = {
    id: newId('art', Date.now()),
    workspace,
    job_id: newId('job', Date.now()),
    serial: 3,
    lineage: LINEAGE,
    tree_digest: 'tree',
    needs_init: 0,
    own_backend: 0,
    secrets: '{}',
    verdict,
    verdict_reason: verdict === null ? null : `the test says ${verdict}`,
    destroys: 1,
    changes: 0,
    creates: 0,
    summary: '1 to destroy',
    sealed: Buffer.from('sealed'),
    digest: 'digest-of-the-plan',
    sealed_view: Buffer.from('sealed view'),
    key_id: '0000000000000000',
    ...some,
  };
  await program.store.write((tx) => insertArtifact(tx, artifact));
  return artifact.id;
}

/** A scenario's workspace, at serial 3. */
export function net(some: MadeWorkspace = {}): NonNullable<Scenario['given']> {
  return async (program) => {
    await makeWorkspace(program, 'net', { serial: 3, ...some });
    return {};
  };
}

/** Newest first. */
export async function jobsOf(program: Program): Promise<readonly Record<string, unknown>[]> {
  const { json } = await send(program, 'readonly', { method: 'GET', path: '/api/v1/jobs' });
  return (json as { data: Record<string, unknown>[] }).data;
}

export async function noJob(program: Program): Promise<void> {
  assert.deepEqual(await jobsOf(program), []);
}

/** The last audit row. */
export async function audited(program: Program): Promise<unknown> {
  const row = await program.store.db
    .selectFrom('ledger')
    .select(['operation', 'target', 'detail'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  return { ...row, detail: JSON.parse(row.detail) as unknown };
}

export function jobIdOf(body: unknown): string {
  return (body as { data: { job_id: string } }).data.job_id;
}

/** Calls an operation as the local command line does; answers its data. Throws Failure. */
export async function callLocally<T>(program: Program, operation: string, raw: object): Promise<T> {
  const row = OPERATIONS.find(({ id }) => id === operation);
  if (row === undefined) throw new Error(`the table has no ${operation}`);
  const answer = await invoke({ store: program.store, services: program.services }, row, {
    caller: localCaller('tester'),
    raw,
  });
  if (answer.shape !== 'body') throw new Error(`${operation} answered ${answer.shape}`);
  return answer.data as T;
}
