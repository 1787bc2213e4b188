/**
 * What a store has to hold after a fault of its disk: everything that was acknowledged, and nothing that contradicts
 * itself.
 */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSealKeeper } from '../../../src/config/seal-keeper.ts';
import { canMove, JOB_STATES, type JobState } from '../../../src/domain/jobs/job.ts';
import { decodeChunk } from '../../../src/lib/chunks/chunk.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { noKeyring } from '../seal.ts';
import type { Keyring } from '../../../src/lib/seal.ts';
import { verifyLedger } from '../../../src/store/audit/verify.ts';
import { planLabel, planViewLabel, stateLabel } from '../../../src/store/secrets/seal.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import type { Fact } from './fault-writer.ts';

/** All of a chunk. */
const EVENTS = { after: 0, limit: 10_000 };

export interface Verdict {
  /** What was acknowledged and is not there. */
  readonly lost: readonly string[];
  /** What is there and cannot be right. */
  readonly corrupt: readonly string[];
}

/** Opens the data directory as the next daemon would; makes a key where a fault has prevented even that. */
export async function checkAfterFault(dataDir: string, facts: readonly Fact[]): Promise<Verdict> {
  const file = join(dataDir, 'gatehouse.db');
  const store = await openStore({
    location: { file },
    clock: systemClock,
    daemonId: 'dmn_checker',
    keyring: noKeyring,
  });
  try {
    const ring = await createSealKeeper(join(dataDir, 'seal.key'), () => false).keyring();
    const corrupt = [
      ...integrity(file),
      ...(await verifyLedger(store.db, ring)).faults,
      ...(await unopened(store, ring)),
      ...(await unsettled(store)),
      ...(await wrongMoves(store)),
    ];
    return { lost: await lost(store, ring, facts), corrupt };
  } finally {
    await store.close();
  }
}

function integrity(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare('pragma integrity_check').all() as { integrity_check: string }[];
    return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok');
  } finally {
    database.close();
  }
}

function closed(what: string, open: () => boolean): string[] {
  try {
    return open() ? [] : [`${what} is not what its row says`];
  } catch (error) {
    return [`${what}: ${String(error)}`];
  }
}

/** Everything sealed opens, and is what its row says. */
async function unopened({ db }: Store, ring: Keyring): Promise<string[]> {
  const artifacts = await db.selectFrom('artifacts').selectAll().execute();
  const states = await db.selectFrom('states').selectAll().execute();
  return [
    ...artifacts.flatMap((row) =>
      closed(row.id, () => {
        ring.open(planLabel(row), row.sealed);
        ring.open(planViewLabel(row), row.sealed_view);
        return hash('sha256', row.sealed) === row.digest;
      }),
    ),
    ...states.flatMap((row) =>
      closed(
        `state of ${row.workspace}`,
        () =>
          (JSON.parse(Buffer.from(ring.open(stateLabel(row), row.sealed)).toString()) as { serial: number }).serial ===
          row.serial,
      ),
    ),
  ];
}

/**
 * The state of each job matches its approval, and the ledger has one settlement for each approval that is settled.
 */
async function unsettled({ db }: Store): Promise<string[]> {
  const approvals = await db
    .selectFrom('approvals')
    .innerJoin('jobs', 'jobs.id', 'approvals.job_id')
    .select(['approvals.id', 'approvals.state', 'jobs.state as job'])
    .execute();
  const answer = await db
    .selectFrom('ledger')
    .select(['target'])
    .where('operation', 'in', ['approval.decision', 'approval.expire'])
    .execute();
  return approvals.flatMap(({ id, state, job }) => {
    const settled = answer.filter((row) => row.target === id).length;
    const wanted = state === 'pending' ? 0 : 1;
    const found = settled === wanted ? [] : [`${id} is ${state}, and the ledger tells of ${settled} settlements`];
    const waits = job === 'awaiting_approval';
    const runs = !waits && job !== 'cancelled';
    return (state === 'pending') === waits && (state === 'approved' || !runs)
      ? found
      : [...found, `${id} is ${state}, and its job is ${job}`];
  });
}

/** The events of each job are a way through its machine that ends where the row says, numbered without a gap. */
async function wrongMoves({ db }: Store): Promise<string[]> {
  const jobs = await db.selectFrom('jobs').select(['id', 'state']).execute();
  const chunks = await db
    .selectFrom('job_chunks')
    .select(['job_id', 'first_seq', 'last_seq', 'data'])
    .orderBy('first_seq')
    .execute();
  return jobs.flatMap(({ id, state }) => {
    const events = chunks.filter((row) => row.job_id === id).flatMap((row) => decodeChunk<JobState>(row.data, EVENTS));
    const numbered = events.every((event, n) => event.seq === n + 2);
    const path = events.flatMap((event) => (event.type === 'state' ? [event.state] : []));
    const moves = path.every((to, n) => n === 0 || canMove(path[n - 1] ?? to, to));
    const ends = path.length === 0 ? ['queued', 'awaiting_approval'].includes(state) : path.at(-1) === state;
    return numbered && moves && ends
      ? []
      : [`${id} is ${state}, its events say ${path.join(', ')}, numbers ${numbered ? 'whole' : 'with a gap'}`];
  });
}

/** Whether a job that was acknowledged as `from` may be `to` by now: later moves need not have been acknowledged. */
function isOnItsWay(from: JobState, to: JobState | undefined): boolean {
  return from === to || JOB_STATES.some((next) => canMove(from, next) && isOnItsWay(next, to));
}

async function lost({ db }: Store, ring: Keyring, facts: readonly Fact[]): Promise<string[]> {
  const jobs = new Map(
    (await db.selectFrom('jobs').select(['id', 'state']).execute()).map((row) => [row.id, row.state]),
  );
  const approvals = new Map(
    (await db.selectFrom('approvals').select(['id', 'state']).execute()).map((row) => [row.id, row.state]),
  );
  const artifacts = new Map(
    (await db.selectFrom('artifacts').select(['id', 'digest']).execute()).map((row) => [row.id, row.digest]),
  );
  const states = new Map((await db.selectFrom('states').selectAll().execute()).map((row) => [row.workspace, row]));
  const chunks = await db
    .selectFrom('job_chunks')
    .select((eb) => ['job_id' as const, eb.fn.max('last_seq').as('last')])
    .groupBy('job_id')
    .execute();
  const printed = new Map(chunks.map((row) => [row.job_id, row.last]));
  const isThere = (fact: Fact): boolean => {
    if (fact.of === 'job') return isOnItsWay(fact.state, jobs.get(fact.id));
    if (fact.of === 'approval')
      return fact.state === 'pending' ? approvals.has(fact.id) : approvals.get(fact.id) === fact.state;
    if (fact.of === 'artifact') return artifacts.get(fact.id) === fact.digest;
    if (fact.of === 'output') return (printed.get(fact.id) ?? 0) >= fact.lastSeq;
    const row = states.get(fact.workspace);
    if (row === undefined || row.serial !== fact.serial) return row !== undefined && row.serial > fact.serial;
    return hash('sha256', ring.open(stateLabel(row), row.sealed)) === fact.digest;
  };
  return facts.filter((fact) => !isThere(fact)).map((fact) => `acknowledged and not there: ${JSON.stringify(fact)}`);
}
