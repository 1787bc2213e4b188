/** The ingress listener on port 0 beside a program, and makers of jobs that wait for approval. */
import assert from 'node:assert/strict';
import { zstdCompressSync } from 'node:zlib';
import { localCaller } from '../../src/domain/caller.ts';
import { workspaceKey } from '../../src/domain/workspace.ts';
import { createIngressFace } from '../../src/faces/ingress/face.ts';
import { newId } from '../../src/lib/id.ts';
import { invoke, type Home } from '../../src/operations/invoke.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import type { Tx } from '../../src/store/gate.ts';
import { insertJob } from '../../src/store/jobs.ts';
import type { ApprovalRow } from '../../src/store/schema.ts';
import { findWorkspace, insertWorkspace, moveWorkspace } from '../../src/store/workspaces.ts';
import { type Ending, type Program, type ProgramOptions, startProgram } from './program.ts';
import { judgeAlways } from './scenario.ts';
import { workspaceRow } from './workspace-row.ts';

export const ASKER = 'ci-deploy';
export const WORKSPACE = 'net';
/** Stands as a value of an attribute in every plan made here: no page may show it. */
export const VALUE = 'a-value-of-an-attribute';
const SERIAL = 42;
/** People with a token of the scope `approve`: links are made for them only. */
const APPROVERS = ['ana', 'bo'];

export interface GateOptions {
  readonly destroys?: readonly string[];
  /** From now; negative for one that nobody answered. */
  readonly ttlMs?: number;
  /** False for a job without a saved plan. */
  readonly planned?: boolean;
  readonly kind?: 'apply' | 'destroy' | 'command' | 'plan';
  /** The rule that asked allows one tap. */
  readonly oneTap?: boolean;
}

export interface Gated {
  readonly approvalId: string;
  readonly jobId: string;
  readonly artifactId: string;
}

export interface Links {
  readonly approve: string;
  readonly reject: string;
}

export interface DecisionSite {
  readonly program: Program;
  readonly home: Home;
  /** Of the ingress listener. */
  readonly url: string;
  readonly port: number;
  /** What the listener logged. */
  readonly logged: { fields: object; message: string }[];
  /** A job that `ASKER` asked for and that waits. */
  gate(options?: GateOptions): Promise<Gated>;
  /** As the local command line of `maker` makes them. */
  links(approvalId: string, recipient?: string, maker?: string): Promise<Links>;
  approval(id: string): Promise<ApprovalRow>;
  jobState(id: string): Promise<string>;
}

export async function openDecisionSite(ending: Ending, options: ProgramOptions = {}): Promise<DecisionSite> {
  const program = await startProgram(ending, options);
  let url = '';
  const services = { ...program.services, linkOrigin: () => Promise.resolve(url) };
  const home = { store: program.store, services };
  const logged: { fields: object; message: string }[] = [];
  const ingress = createIngressFace({
    home,
    log: { error: (fields, message) => void logged.push({ fields, message }) },
  });
  ending.after(() => ingress.close(0));
  for (const owner of APPROVERS) await program.token('approve', { owner });
  const listening = await ingress.listen({ host: '127.0.0.1', port: 0 });
  url = listening.url;
  const { db } = program.store;
  return {
    program,
    home,
    url,
    port: listening.port,
    logged,
    async gate(gate = {}) {
      const keyring = await services.keyring();
      return program.store.write((tx) => insertGated(tx, keyring, gate));
    },
    async links(approvalId, recipient = 'ana', maker = 'ops') {
      const operation = OPERATIONS.find(({ id }) => id === 'approval.link');
      if (operation === undefined) throw new Error('the table has no approval.link');
      const answer = await invoke(home, operation, { caller: localCaller(maker), raw: { id: approvalId, recipient } });
      if (answer.shape !== 'body') throw new Error('approval.link answered no body');
      return answer.data as Links;
    },
    approval: (id) => db.selectFrom('approvals').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
    jobState: async (id) =>
      (await db.selectFrom('jobs').select('state').where('id', '=', id).executeTakeFirstOrThrow()).state,
  };
}

export interface Told {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/**
 * Sends one request to the ingress listener, without following anything. A POST is that of the page: with the hidden
 * field of its form. What is given as text is sent as it is.
 */
export async function ask(
  url: string,
  method: string,
  form?: string | Readonly<Record<string, string>>,
): Promise<Told> {
  if (method !== 'POST' || typeof form === 'string') return send(url, method, form as string | undefined);
  return send(url, method, new URLSearchParams({ ...form, ...(await hiddenFields(url)) }).toString());
}

/** What a button of a notification sends: a POST without a body. */
export function tap(url: string): Promise<Told> {
  return send(url, 'POST', undefined);
}

async function hiddenFields(url: string): Promise<Record<string, string>> {
  const { text } = await send(url, 'GET', undefined);
  return Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="(\w+)" value="(\w+)">/g)].map(
      ([, name, value]) => [name, value] as const,
    ),
  );
}

async function send(url: string, method: string, body: string | undefined): Promise<Told> {
  const init = body === undefined ? {} : { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } };
  const response = await fetch(url, { method, redirect: 'manual', ...init });
  judgeAlways(response.headers);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

export async function assertPending(
  site: DecisionSite,
  { approvalId, jobId }: { approvalId: string; jobId: string },
): Promise<void> {
  assert.equal((await site.approval(approvalId)).state, 'pending');
  assert.equal(await site.jobState(jobId), 'awaiting_approval');
}

export async function ledger(
  site: DecisionSite,
): Promise<{ operation: string; principal: string; via: string; target: string | null; detail: string }[]> {
  return site.program.store.db
    .selectFrom('ledger')
    .select(['operation', 'principal', 'via', 'target', 'detail'])
    .orderBy('seq')
    .execute();
}

type Sealer = Awaited<ReturnType<Home['services']['keyring']>>;

async function insertGated(
  tx: Tx,
  keyring: Sealer,
  { destroys = [], ttlMs = 3_600_000, planned = true, kind = 'apply', oneTap = false }: GateOptions,
): Promise<Gated> {
  const approvalId = newId('apr', tx.now);
  const jobId = newId('job', tx.now);
  const artifactId = newId('art', tx.now);
  const expiresAt = tx.now + ttlMs;
  await addWorkspace(tx);
  if (planned) await insertPlan(tx, keyring, artifactId, destroys);
  await insertJob(tx, {
    id: jobId,
    kind,
    state: 'awaiting_approval',
    runbook: `apply:${WORKSPACE}`,
    source: null,
    trigger: 'api',
    workspace: WORKSPACE,
    concurrencyKey: workspaceKey(WORKSPACE),
    privileged: false,
    createdAt: tx.now,
    requestedBy: ASKER,
    owners: [ASKER],
    redriveOf: null,
    spec: '{}',
    timeoutMs: 60_000,
    expiresAt,
    ...(planned ? { planArtifactId: artifactId } : {}),
  });
  const row: ApprovalRow = {
    id: approvalId,
    job_id: jobId,
    kind,
    state: 'pending',
    policy: 'it destroys something',
    workspace: WORKSPACE,
    runbook: `apply:${WORKSPACE}`,
    plan_artifact_id: planned ? artifactId : null,
    plan_digest: planned ? digestOf(artifactId) : null,
    plan_serial: planned ? SERIAL : null,
    requested_by: ASKER,
    owners: JSON.stringify([ASKER]),
    origin: 'manual',
    alert: null,
    rule: null,
    matched_at: null,
    schedule: null,
    created_at: tx.now,
    expires_at: expiresAt,
    decided_at: null,
    decided_by: null,
    decided_via: null,
    reason: null,
    one_tap: oneTap ? 1 : 0,
  };
  await tx.db.insertInto('approvals').values(row).execute();
  return { approvalId, jobId, artifactId };
}

function digestOf(artifactId: string): string {
  return artifactId.slice(-26).padStart(64, '0');
}

async function addWorkspace(tx: Tx): Promise<void> {
  if ((await findWorkspace(tx.db, WORKSPACE)) !== undefined) return;
  await insertWorkspace(tx, workspaceRow(WORKSPACE, { path: '/nowhere' }));
  await moveWorkspace(tx, WORKSPACE, { serial: SERIAL, lineage: 'lineage', byJob: null, via: null });
}

async function insertPlan(tx: Tx, keyring: Sealer, id: string, destroys: readonly string[]): Promise<void> {
  const attributes = [{ name: 'input', before: VALUE, after: VALUE }];
  const entry = (address: string, action: string): object => ({
    address,
    type: 'terraform_data',
    name: 'x',
    action,
    attributes,
  });
  const view = {
    destroys: destroys.map((address, n) => entry(address, n % 2 === 0 ? 'destroy' : 'replace')),
    changes: [entry('terraform_data.changed', 'update'), entry('terraform_data.changed2', 'update')],
    creates: [entry('terraform_data.new', 'create')],
    summary: 'as it is',
    line_count: 3,
    artifact_id: id,
  };
  await tx.db
    .insertInto('artifacts')
    .values({
      id,
      workspace: WORKSPACE,
      job_id: newId('job', tx.now),
      serial: SERIAL,
      lineage: 'lineage',
      tree_digest: '',
      needs_init: 0,
      own_backend: 0,
      secrets: '{}',
      verdict: 'require_approval',
      verdict_reason: null,
      destroys: destroys.length,
      changes: 2,
      creates: 1,
      summary: view.summary,
      sealed: keyring.seal(['plan', id], Buffer.from('the plan file')),
      digest: digestOf(id),
      sealed_view: keyring.seal(['plan-view', id, WORKSPACE], zstdCompressSync(JSON.stringify(view))),
      key_id: keyring.activeId,
      created_at: tx.now,
      consumed_by: null,
    })
    .execute();
}
