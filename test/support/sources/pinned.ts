/** Jobs that wait for approval and what they name: sources whose files are put where a fetch would put them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { WorkspaceKind } from '../../../src/domain/workspaces/workspace.ts';
import { queueCommand } from '../../../src/jobs/commands/queue.ts';
import { queueWorkspaceRun } from '../../../src/jobs/workspaces/queue.ts';
import { readerOf, readUnread } from '../../../src/operations/approvals/pinned-files.ts';
import { insertSource, moveSource } from '../../../src/store/sources/sources.ts';
import { approvalOf } from '../workflows/fixture.ts';
import type { Fixture } from '../fixtures/installation.ts';

const DEPS = { wake: () => undefined, approvalTtlMs: 600_000 };
const TIMEOUT_MS = 60_000;
const BEN = { name: 'ben', owner: 'ben' };

export interface Asked {
  readonly job: string;
  readonly approval: string;
}

/** Files of a commit, as a fetch leaves them. */
export function placeCommit(
  fixture: Fixture,
  commit: string,
  files: Readonly<Record<string, string>>,
  source = 'ops',
): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(fixture.dir, 'data', 'sources', source, commit, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** The git source `ops`, whose server no one can reach. */
export async function addGitSource(fixture: Fixture, commit: string): Promise<void> {
  const columns = { kind: 'git', location: 'ssh://git@127.0.0.1:1/ops', ref: 'main' } as const;
  await fixture.store.write((tx) =>
    insertSource(tx, { name: 'ops', ...columns, commit_id: commit, synced_at: 1, created_at: 1 }),
  );
}

/** As a fetch of the branch records it. */
export async function syncTo(fixture: Fixture, commit: string): Promise<void> {
  await fixture.store.write((tx) => moveSource(tx, { name: 'ops', created_at: 1 }, { commit, dirKept: null }));
}

/** A run of a workspace that waits for approval, as a rule or a schedule asks for it. */
export async function askForRun(
  fixture: Fixture,
  kind: WorkspaceKind,
  workspace: string,
  isRead = true,
): Promise<Asked> {
  const asker = { trigger: 'schedule', requestedBy: 'ana', owners: ['ana'] } as const;
  const request = { kind, workspace, plan: null, runSecrets: {}, timeoutMs: TIMEOUT_MS };
  const gate = { origin: 'schedule', ttlMs: 600_000 } as const;
  const { jobId } = await fixture.store.write((tx) => queueWorkspaceRun({ tx, deps: DEPS, asker, gate }, request));
  if (isRead) await readFiles(fixture);
  return { job: jobId, approval: (await approvalOf(fixture, jobId)).id };
}

/** What a daemon does after the commit of a request. */
export function readFiles(fixture: Fixture): Promise<void> {
  return readUnread(readerOf(fixture), new AbortController().signal);
}

/** A command on the hosts of an inventory that waits for approval. */
export async function askForCommand(fixture: Fixture, inventory: string): Promise<Asked> {
  const asker = { trigger: 'schedule', requestedBy: 'ana', owners: ['ana'] } as const;
  const request = { inventory, limit: null, command: ['true'], egressPorts: [], privileged: false };
  const gate = { origin: 'schedule', ttlMs: 600_000 } as const;
  const { jobId } = await fixture.store.write((tx) =>
    queueCommand({ tx, deps: DEPS, asker, gate }, { ...request, timeoutMs: TIMEOUT_MS }),
  );
  return { job: jobId, approval: (await approvalOf(fixture, jobId)).id };
}

export function decideAs(fixture: Fixture, { approval: id }: Asked, decision: 'approve' | 'reject'): Promise<unknown> {
  return fixture.call('approval.decision', { id, decision }, BEN);
}
