/** Roots for the real terraform that need no provider, and what a story asks of a workspace. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import type { Projected } from '../../src/views/views.ts';
import type { JobRow } from '../../src/store/schema/schema.ts';
import type { Fixture } from './fixtures/installation.ts';

export type PlanView = Projected<'approval.plan'>;

/** Writes a root of one file below the fixture's directory; answers its path. */
export function writeRoot(fixture: Pick<Fixture, 'dir'>, name: string, text: string): string {
  const dir = join(fixture.dir, name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'main.tf'), text);
  return dir;
}

/** `count` resources named item, each of which holds its number. */
export function items(count: number, input = '"v${count.index}"'): string {
  return `resource "terraform_data" "item" {\n  count = ${count}\n  input = ${input}\n}\n`;
}

export async function addWorkspace(fixture: Fixture, name: string, text: string, more: object = {}): Promise<string> {
  const dir = writeRoot(fixture, name, text);
  await fixture.call('workspace.add', { name, dir, ...more });
  return dir;
}

/** Whether this tool knows blocks of type `removed`: both do from 1.7 on. */
export function knowsRemovedBlocks(tool: string): boolean {
  return knowsSince(tool, 7);
}

/** Whether this tool is of this minor version, or a newer one. */
export function knowsSince(tool: string, since: number): boolean {
  const env = { CHECKPOINT_DISABLE: '1', TF_CLI_CONFIG_FILE: '/dev/null' };
  const [, minor = 0] = /^\w+ v1\.(\d+)/.exec(execFileSync(tool, ['version'], { encoding: 'utf8', env })) ?? [];
  return Number(minor) >= since;
}

export type RunVerb = 'plan' | 'apply' | 'destroy' | 'drift';

/** Queues a run and waits for its end. */
export async function runToEnd(
  fixture: Fixture,
  verb: RunVerb,
  name: string,
  raw: object = {},
  limitMs = 60_000,
): Promise<JobRow> {
  const { job_id: id } = await fixture.call<{ job_id: string }>(`workspace.${verb}`, { name, ...raw });
  return fixture.waitFor(id, ['succeeded', 'failed', 'cancelled', 'interrupted'], limitMs);
}

/** The view of a saved plan, as it is kept. */
export async function planViewOf(fixture: Fixture, artifactId: string): Promise<PlanView> {
  const ring = await fixture.services.keyring();
  const row = await fixture.store.db
    .selectFrom('artifacts')
    .select(['workspace', 'sealed_view'])
    .where('id', '=', artifactId)
    .executeTakeFirstOrThrow();
  const json = zstdDecompressSync(ring.open(['plan-view', artifactId, row.workspace], row.sealed_view));
  return JSON.parse(json.toString('utf8')) as PlanView;
}

/** What a job printed, one line each. */
export async function linesOf(fixture: Fixture, jobId: string): Promise<string[]> {
  return (await fixture.events(jobId)).flatMap((event) => (event.type === 'log' ? [event.text] : []));
}
