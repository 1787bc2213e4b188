/**
 * A stand-alone program that does what the daemon and its faces do with the store, during a fault of the disk:
 * `node fault-writer.ts DATA_DIR ROUNDS full|normal`. In each round a plan is saved, approval is requested, two people
 * decide at once, and the plan is applied. Prints one line of JSON for each acknowledged step, at once and
 * synchronously: a line that was printed before a fault was acknowledged before it.
 */
import { hash, randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { openLocal } from '../../../src/app.ts';
import { readSettings } from '../../../src/config/settings/read-settings.ts';
import { claim, endJob } from '../../../src/daemon/jobs/job-transitions.ts';
import { keepOfRun } from '../../../src/daemon/workspaces/states.ts';
import { type ApprovalState, type Decision, DECISIONS } from '../../../src/domain/approvals/approval.ts';
import { Failure } from '../../../src/domain/failure.ts';
import type { JobState } from '../../../src/domain/jobs/job.ts';
import { encodeChunk } from '../../../src/lib/chunks/chunk.ts';
import { nextTurn } from '../../../src/lib/flow/cooperative.ts';
import { newId } from '../../../src/lib/id.ts';
import type { Keyring } from '../../../src/lib/seal.ts';
import { invoke } from '../../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { parseState } from '../../../src/domain/workspaces/state.ts';
import { toJson } from '../../../src/lib/json.ts';
import { consume, insertArtifact } from '../../../src/store/workspaces/artifacts.ts';
import { appendOutput } from '../../../src/store/jobs/chunks.ts';
import { type Fence, fenceOf, recordArtifact } from '../../../src/store/jobs/claims.ts';
import { insertDaemon } from '../../../src/store/maintenance/daemons.ts';
import type { JobRow } from '../../../src/store/schema/schema.ts';
import { planLabel, planViewLabel } from '../../../src/store/secrets/seal.ts';
import { printLine } from '../output/print-line.ts';

/** What was acknowledged. */
export type Fact =
  | { readonly of: 'job'; readonly id: string; readonly state: JobState }
  | { readonly of: 'output'; readonly id: string; readonly lastSeq: number }
  | { readonly of: 'artifact'; readonly id: string; readonly digest: string }
  | { readonly of: 'approval'; readonly id: string; readonly state: ApprovalState }
  | { readonly of: 'state'; readonly workspace: string; readonly serial: number; readonly digest: string };

/** A line: what is done, what was refused as it has to be, or what failed in an unexpected way. */
export type Said =
  | { readonly done: readonly Fact[] }
  | { readonly refused: string }
  | { readonly odd: string }
  | { readonly over: true };

const LINEAGE = '6d1f0c5e-0000-4000-8000-000000000001';
/** The files of every workspace: an apply is refused where they are not those of the plan. */
const DIR = import.meta.dirname;
/** As a plan of some hundred resources has; random, as what is sealed looks. */
const PLAN_BYTES = 20_000;
const OUTPUT_BYTES = 8_000;
const STATE_BYTES = 6_000;
/** One round in this number is rejected: it writes less. */
const REJECTED_OF = 4;

const say = (said: Said): void => printLine(said);
const done = (...facts: Fact[]): void => say({ done: facts });

type Local = Awaited<ReturnType<typeof openLocal>>;

interface Writer {
  readonly local: Local;
  readonly ring: Keyring;
  readonly daemonId: string;
}

/** As a face calls it, in somebody's name. */
async function call<T>(
  { local: { runtime, caller } }: Pick<Writer, 'local'>,
  who: string,
  id: string,
  raw: object,
): Promise<T> {
  const operation = OPERATIONS.find((row) => row.id === id);
  if (operation === undefined) throw new Error(`the table has no ${id}`);
  const answer = await invoke(runtime, operation, { caller: { ...caller, name: who, owner: who }, raw });
  if (answer.shape !== 'body') throw new Error(`${id} answered no body`);
  return answer.data as T;
}

function text(bytes: number): string {
  return randomBytes(bytes / 2).toString('hex');
}

/** Claims this job; what an abandoned round has left is ended. */
async function claimIt(
  { local, daemonId }: Writer,
  jobId: string,
): Promise<{ row: JobRow; fence: Fence; seq: number }> {
  const claimed = await local.runtime.store.write((tx) => claim(tx, { id: daemonId, node: 'here' }, 100));
  done(...claimed.map(({ row }) => ({ of: 'job' as const, id: row.id, state: 'running' as const })));
  for (const { row } of claimed.filter((each) => each.row.id !== jobId))
    await end({ local }, fenceOf(row), 'interrupted');
  const found = claimed.find(({ row }) => row.id === jobId);
  if (found === undefined) throw new Error(`${jobId} was not to be claimed`);
  return { row: found.row, fence: fenceOf(found.row), seq: found.lastSeq };
}

async function end({ local }: Pick<Writer, 'local'>, fence: Fence, state: 'succeeded' | 'interrupted'): Promise<void> {
  const moved = await local.runtime.store.write((tx) =>
    endJob(tx, fence, { state, exitCode: state === 'succeeded' ? 0 : null }, 'run'),
  );
  if (!moved) throw new Error(`${fence.jobId} was lost`);
  done({ of: 'job', id: fence.jobId, state });
}

async function print({ local }: Writer, fence: Fence, seq: number): Promise<void> {
  const event = {
    seq,
    at: new Date().toISOString(),
    type: 'log' as const,
    stream: 'stdout' as const,
    text: text(OUTPUT_BYTES),
  };
  await local.runtime.store.write((tx) =>
    appendOutput(tx, fence, { first_seq: seq, last_seq: seq, raw_bytes: OUTPUT_BYTES, data: encodeChunk([event]) }),
  );
  done({ of: 'output', id: fence.jobId, lastSeq: seq });
}

/** A plan run, up to the saved plan; answers its id. */
async function plan(writer: Writer, name: string): Promise<string> {
  const { local, ring } = writer;
  const { job_id: jobId } = await call<{ job_id: string }>(writer, 'ci', 'workspace.plan', { name });
  done({ of: 'job', id: jobId, state: 'queued' });
  const { fence, seq } = await claimIt(writer, jobId);
  await print(writer, fence, seq + 1);
  const id = newId('art', Date.now());
  const facts = {
    id,
    workspace: name,
    job_id: jobId,
    serial: 0,
    lineage: '',
    tree_digest: await local.runtime.services.sources.digestOf({ path: DIR, named: null }),
    secrets: toJson({}),
    verdict: 'require_approval',
  } as const;
  const sealed = ring.seal(planLabel(facts), randomBytes(PLAN_BYTES));
  const digest = hash('sha256', sealed);
  const counts = {
    destroys: 1,
    changes: 0,
    creates: 0,
    summary: '1 to destroy, 0 to replace, 0 to change, 0 to create',
  };
  const policy = { verdict_reason: 'it destroys something' } as const;
  const files = { needs_init: 0, own_backend: 0 } as const;
  const views = { sealed_view: ring.seal(planViewLabel(facts), Buffer.from('{}')), key_id: ring.activeId };
  await local.runtime.store.write(async (tx) => {
    await insertArtifact(tx, { ...facts, ...counts, ...policy, ...files, ...views, sealed, digest });
    await recordArtifact(tx, jobId, id);
    if (!(await endJob(tx, fence, { state: 'succeeded', exitCode: 0 }, 'run'))) throw new Error(`${jobId} was lost`);
  });
  done({ of: 'artifact', id, digest }, { of: 'job', id: jobId, state: 'succeeded' });
  return id;
}

/** Two decide at once, one for and one against it, `first` a moment earlier; answers whether it was approved. */
async function decide(writer: Writer, id: string, jobId: string, first: Decision): Promise<boolean> {
  const ask = async (who: string, decision: Decision): Promise<Decision | null> => {
    try {
      const result = await call<{ state: ApprovalState; job_state?: JobState }>(writer, who, 'approval.decision', {
        id,
        decision,
      });
      done(
        { of: 'approval', id, state: result.state },
        { of: 'job', id: jobId, state: result.state === 'approved' ? 'queued' : 'cancelled' },
      );
      return decision;
    } catch (error) {
      // One of them comes too late.
      if (error instanceof Failure && error.code === 'conflict') return null;
      throw error;
    }
  };
  const decisions = first === 'approve' ? DECISIONS : DECISIONS.toReversed();
  const asked = decisions.map(async (decision, at) => {
    // An approval first looks at what it is about; the write of the first one has begun by then.
    if (at > 0) await nextTurn();
    return ask(`${decision}r`, decision);
  });
  const result = await Promise.allSettled(asked);
  for (const each of result) if (each.status === 'rejected') throw each.reason;
  return result.some((each) => each.status === 'fulfilled' && each.value === 'approve');
}

async function apply(writer: Writer, name: string, plan: string, first: Decision): Promise<void> {
  const asked = await call<{ approval_id: string; job_id: string }>(writer, 'ci', 'workspace.apply', { name, plan });
  done(
    { of: 'approval', id: asked.approval_id, state: 'pending' },
    { of: 'job', id: asked.job_id, state: 'awaiting_approval' },
  );
  if (!(await decide(writer, asked.approval_id, asked.job_id, first))) return;
  const { row, fence, seq } = await claimIt(writer, asked.job_id);
  const { store } = writer.local.runtime;
  if (!(await store.write((tx) => consume(tx, plan, asked.job_id)))) throw new Error(`${plan} was used before`);
  for (const serial of [1, 2]) {
    const bytes = Buffer.from(
      JSON.stringify({
        serial,
        lineage: LINEAGE,
        resources: [{ name: 'made', type: text(STATE_BYTES), instances: [{}] }],
      }),
    );
    const state = parseState(bytes);
    if (state === null) throw new Error('this program wrote an invalid state');
    await store.write((tx) => keepOfRun(tx, fence, row, { state, ring: writer.ring }));
    done({ of: 'state', workspace: name, serial, digest: hash('sha256', bytes) });
  }
  await print(writer, fence, seq + 1);
  await end(writer, fence, 'succeeded');
}

/** What a client does with 503: it gives this up, and tries something else. */
async function attempt(what: () => Promise<void>): Promise<boolean> {
  try {
    await what();
    return true;
  } catch (error) {
    if (error instanceof Failure && error.code === 'unavailable') say({ refused: error.message });
    else say({ odd: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
    return false;
  }
}

/** For the proof that the test bites: what node:sqlite does of itself, a commit that waits for no disk. */
function withoutSync(): void {
  const exec = Reflect.get(DatabaseSync.prototype, 'exec');
  DatabaseSync.prototype.exec = function (sql: string): void {
    exec.call(this, sql === 'pragma synchronous = full' ? 'pragma synchronous = normal' : sql);
  };
}

async function open(dir: string): Promise<Writer> {
  const local = await openLocal(readSettings({ 'data-dir': dir }, {}));
  const ring = await local.runtime.services.keyring();
  const daemonId = newId('dmn', Date.now());
  const row = {
    id: daemonId,
    host: 'here',
    boot_id: 'boot',
    pid: process.pid,
    version: '0',
    started_at: Date.now(),
    lease_until: null,
    stopped_at: null,
  };
  await local.runtime.store.write((tx) => insertDaemon(tx, row));
  return { local, ring, daemonId };
}

async function main(dir: string, rounds: number, mode: string): Promise<void> {
  if (mode === 'normal') withoutSync();
  let writer: Writer | undefined;
  await attempt(async () => void (writer = await open(dir)));
  const opened = writer;
  if (opened !== undefined) {
    for (let round = 0; round < rounds; round += 1) {
      const name = `net-${newId('job', Date.now()).slice(-12)}`;
      await attempt(async () => {
        await call(opened, 'ci', 'workspace.add', { name, dir: DIR });
        await apply(
          opened,
          name,
          await plan(opened, name),
          round % REJECTED_OF === REJECTED_OF - 1 ? 'reject' : 'approve',
        );
      });
    }
    if (mode !== 'normal') await attempt(() => opened.local.close());
  }
  say({ over: true });
}

const [dir, rounds, mode] = process.argv.slice(2);
if (process.argv[1] === import.meta.filename && dir !== undefined) await main(dir, Number(rounds), mode ?? 'full');
