/** Gated jobs with their approvals, workspaces and saved plans, as an ask for an apply leaves them. */
import { zstdCompressSync } from 'node:zlib';
import { workspaceKey } from '../../src/domain/workspace.ts';
import { newId } from '../../src/lib/id.ts';
import type { Keyring } from '../../src/lib/seal.ts';
import type { Projected } from '../../src/operations/views.ts';
import { insertApproval, type NewApproval } from '../../src/store/approvals.ts';
import { insertArtifact } from '../../src/store/artifacts.ts';
import type { Tx } from '../../src/store/gate.ts';
import { insertJob } from '../../src/store/jobs.ts';
import type { ApprovalRow } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';
import { findWorkspace, insertWorkspace, moveWorkspace } from '../../src/store/workspaces.ts';
import type { Program } from './program.ts';
import { workspaceRow } from './workspace-row.ts';

export const ASKER = 'ci';
export const SERIAL = 7;
export const LINEAGE = '6d1f0c5e-0000-4000-8000-000000000001';

export interface MadeApproval extends Partial<
  Pick<NewApproval, 'requestedBy' | 'owners' | 'origin' | 'alert' | 'rule' | 'matched_at' | 'ttlMs' | 'policy'>
> {
  readonly workspace?: string;
  /** False for a job that is about no plan. */
  readonly planned?: boolean;
}

export interface Gated {
  readonly approval: ApprovalRow;
  readonly jobId: string;
  /** Empty where there is no plan. */
  readonly artifactId: string;
}

/** A job that waits and its approval, by one write. The plan's view is sealed where there is a keyring. */
export async function gate(store: Store, some: MadeApproval = {}, keyring?: Keyring): Promise<Gated> {
  return store.write((tx) => {
    // As the operation that asks does: the daemons hear of the commit, and so of the deadline.
    tx.afterCommit(() => undefined);
    return insertGated(tx, some, keyring);
  });
}

export async function insertGated(tx: Tx, some: MadeApproval, keyring?: Keyring): Promise<Gated> {
  const {
    workspace = 'net',
    planned = true,
    requestedBy = ASKER,
    owners = [requestedBy],
    ttlMs = 3_600_000,
    ...rest
  } = some;
  const jobId = newId('job', tx.now);
  const artifactId = planned ? await insertPlan(tx, workspace, keyring) : '';
  const plan = planned
    ? { planArtifactId: artifactId, planDigest: digestOf(artifactId), planSerial: SERIAL }
    : { planArtifactId: null, planDigest: null, planSerial: null };
  const kind = planned ? 'apply' : 'command';
  const runbook = planned ? `apply:${workspace}` : 'command:localhost';
  const place = { kind, runbook, workspace: planned ? workspace : null } as const;
  const asked: NewApproval = {
    policy: 'require_approval',
    origin: 'manual',
    ...rest,
    ...place,
    ...plan,
    jobId,
    requestedBy,
    owners,
    ttlMs,
  };
  const approval = await insertApproval(tx, asked);
  await insertJob(tx, {
    ...place,
    id: jobId,
    state: 'awaiting_approval',
    source: null,
    trigger: 'api',
    concurrencyKey: planned ? workspaceKey(workspace) : null,
    privileged: false,
    createdAt: tx.now,
    requestedBy,
    owners,
    redriveOf: null,
    spec: JSON.stringify({ workspace, plan: artifactId, runSecrets: {} }),
    timeoutMs: 60_000,
    expiresAt: approval.expires_at,
    ...(planned ? { planArtifactId: artifactId } : {}),
  });
  return { approval, jobId, artifactId };
}

function digestOf(artifactId: string): string {
  return `digest of ${artifactId}`;
}

async function insertPlan(tx: Tx, workspace: string, keyring: Keyring | undefined): Promise<string> {
  const id = newId('art', tx.now);
  if ((await findWorkspace(tx.db, workspace)) === undefined) {
    await insertWorkspace(tx, workspaceRow(workspace));
    await moveWorkspace(tx, workspace, { serial: SERIAL, lineage: LINEAGE, byJob: null, via: null });
  }
  const view = Buffer.from(zstdCompressSync(JSON.stringify(planView(id))));
  await insertArtifact(tx, {
    id,
    workspace,
    job_id: newId('job', tx.now),
    serial: SERIAL,
    lineage: LINEAGE,
    tree_digest: 'tree',
    needs_init: 0,
    own_backend: 0,
    secrets: '{}',
    verdict: 'require_approval',
    verdict_reason: 'it destroys something',
    destroys: 1,
    changes: 0,
    creates: 0,
    summary: '1 to destroy',
    sealed: Buffer.from('the plan file, sealed'),
    digest: digestOf(id),
    sealed_view: keyring === undefined ? view : keyring.seal(['plan-view', id, workspace], view),
    key_id: keyring?.activeId ?? '0000000000000000',
  });
  return id;
}

/** What `approval.plan` shows of a plan that is made here. */
export function planView(artifactId: string): Projected<'approval.plan'> {
  return {
    destroys: [
      {
        address: 'terraform_data.a',
        type: 'terraform_data',
        name: 'a',
        action: 'destroy',
        attributes: [{ name: 'input', before: '[redacted · secret]', after: '' }],
      },
    ],
    changes: [],
    creates: [],
    summary: '1 to destroy',
    line_count: 2,
    artifact_id: artifactId,
  };
}

/** The same on a program, with the view sealed as the program's own runs would; answers what scenarios fill in. */
export async function gated(
  program: Program,
  some: MadeApproval = {},
): Promise<{ apr: string; job: string; art: string }> {
  const { approval, jobId, artifactId } = await gate(program.store, some, await program.services.keyring());
  return { apr: approval.id, job: jobId, art: artifactId };
}

/** Moves the state, as a job would that nobody of these tests runs. */
export async function moveState(
  store: Store,
  serial: number,
  by: { byJob: string | null; via: string | null } = { byJob: null, via: null },
  workspace = 'net',
): Promise<void> {
  await store.write((tx) => moveWorkspace(tx, workspace, { serial, lineage: LINEAGE, ...by }));
}

/** The rows of the ledger about this target, oldest first. */
export async function auditOf(
  store: Store,
  target: string,
): Promise<readonly { operation: string; principal: string; via: string }[]> {
  return store.db
    .selectFrom('ledger')
    .select(['operation', 'principal', 'via'])
    .where('target', '=', target)
    .orderBy('seq')
    .execute();
}
