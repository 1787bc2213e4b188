/**
 * A place for daemons: a fresh data directory, on SQLite or with a fresh PostgreSQL database, and the local command
 * line's own door to the store. Ended as a whole: daemons first, then what is left of their jobs.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLocal } from '../../src/app.ts';
import { readSettings } from '../../src/config/settings.ts';
import type { Caller } from '../../src/domain/caller.ts';
import type { CommandSpec } from '../../src/domain/command.ts';
import type { JobEvent } from '../../src/domain/job.ts';
import { newId } from '../../src/lib/id.ts';
import { invoke } from '../../src/operations/invoke.ts';
import { readEvents } from '../../src/operations/job-events.ts';
import type { Services } from '../../src/operations/services.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { getJob, insertJob } from '../../src/store/jobs.ts';
import type { JobRow } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';
import { until } from './api-client.ts';
import { type DaemonFlags, type RunningDaemon, runsDirFor, spawnDaemon, type StartingDaemon } from './daemon.ts';
import { freshDatabase } from './postgres.ts';
import { createWitness, type Witness } from './witness.ts';

/** What ends a site: a test's context, or a program that calls the steps itself. */
export interface Ending {
  after(step: () => Promise<void>): void;
}

export interface QueuedCommand {
  readonly command: readonly string[];
  readonly key?: string | null;
  readonly privileged?: boolean;
  readonly timeoutMs?: number;
}

export type SiteFlags = Partial<DaemonFlags>;

export interface Site {
  readonly dir: string;
  readonly databaseUrl: string | null;
  readonly store: Store;
  readonly witness: Witness;
  /** Of an operator. */
  readonly token: string;
  /** Calls an operation as the local command line does; the answer's data. `as` changes who asks. */
  call<T>(operationId: string, raw: object, as?: Partial<Caller>): Promise<T>;
  readonly services: Services;
  start(flags?: SiteFlags): Promise<RunningDaemon>;
  spawn(flags?: SiteFlags): StartingDaemon;
  /**
   * Queues a command past the API, as later kinds of jobs will: with a concurrency key, which an ad-hoc command has
   * none of, and privileged, which the API refuses to grant.
   */
  queue(job: QueuedCommand): Promise<string>;
  row(jobId: string): Promise<JobRow>;
  /** What runs have left, by name. */
  leftRuns(): string[];
  events(jobId: string): Promise<JobEvent[]>;
  waitFor(jobId: string, states: readonly string[], limitMs?: number): Promise<JobRow>;
}

const EVENTS_PER_READ = 5_000;
const TIMEOUT_MS = 600_000;

export interface SiteOptions {
  /** On a fresh database of the PostgreSQL that all tests share. */
  readonly postgres?: boolean;
  /** On this database, for a story that harms its server. */
  readonly databaseUrl?: string;
}

export async function openSite(ending: Ending, options: SiteOptions = {}): Promise<Site> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-story-'));
  // Jobs of a daemon that is root pass through it, as another account.
  chmodSync(dir, 0o711);
  const database = options.postgres === true ? await freshDatabase() : null;
  const flags: DaemonFlags = {
    dataDir: join(dir, 'data'),
    databaseUrl: database?.url ?? options.databaseUrl ?? null,
    // Daemons that share a database share the key that tokens are hashed with.
    sealKeyFile: join(dir, 'seal.key'),
  };
  const started: StartingDaemon[] = [];
  const local = await openLocal(localSettings(flags));
  const { store } = local.home;
  ending.after(async () => {
    await Promise.all(started.map((daemon) => daemon.kill()));
    endLeftovers(await allIds(store));
    await Promise.all(started.map((daemon) => daemon.helpersEnded()));
    await local.close();
    await database?.drop();
    rmSync(dir, { recursive: true, force: true });
  });
  const spawn = (more: SiteFlags = {}): StartingDaemon => {
    const daemon = spawnDaemon({ ...flags, ...more });
    started.push(daemon);
    return daemon;
  };
  const row = (jobId: string): Promise<JobRow> => getJob(store.db, jobId);
  return {
    dir,
    databaseUrl: flags.databaseUrl ?? null,
    store,
    witness: createWitness(join(dir, 'witness')),
    token: await mintToken(local),
    services: local.home.services,
    call: (operationId, raw, as) => call(local, operationId, raw, as),
    spawn,
    start: (more) => spawn(more).ready,
    queue: (job) => queue(store, job),
    row,
    leftRuns: () => readdirSync(runsDirFor(flags.dataDir)).filter((name) => name.startsWith('job_')),
    events: (jobId) => allEvents(store, jobId),
    waitFor: (jobId, states, limitMs) =>
      until(
        `job ${jobId} is ${states.join(' or ')}`,
        async () => {
          const now = await row(jobId);
          return states.includes(now.state) ? now : undefined;
        },
        limitMs,
      ),
  };
}

function localSettings(flags: DaemonFlags): ReturnType<typeof readSettings> {
  const given = { 'data-dir': flags.dataDir, 'seal-key-file': flags.sealKeyFile };
  return readSettings(given, { SVC_DATABASE_URL: flags.databaseUrl ?? undefined });
}

type Local = Awaited<ReturnType<typeof openLocal>>;

async function mintToken(local: Local): Promise<string> {
  return (await call<{ token: string }>(local, 'token.create', { name: 'story', scope: 'operator' })).token;
}

async function call<T>(
  { home, caller }: Local,
  operationId: string,
  raw: object,
  as: Partial<Caller> = {},
): Promise<T> {
  const operation = OPERATIONS.find((row) => row.id === operationId);
  if (operation === undefined) throw new Error(`the table has no ${operationId}`);
  const answer = await invoke(home, operation, { caller: { ...caller, ...as }, raw });
  if (answer.shape !== 'body') throw new Error(`${operationId} answered no body`);
  return answer.data as T;
}

async function queue(
  store: Store,
  { command, key = null, privileged = true, timeoutMs = TIMEOUT_MS }: QueuedCommand,
): Promise<string> {
  const spec: CommandSpec = { inventory: 'localhost', limit: null, command, egressPorts: [] };
  return store.write(async (tx) => {
    const id = newId('job', tx.now);
    await insertJob(tx, {
      id,
      kind: 'command',
      state: 'queued',
      runbook: 'command:localhost',
      source: null,
      trigger: 'cli',
      workspace: null,
      concurrencyKey: key,
      privileged,
      createdAt: tx.now,
      requestedBy: 'story',
      owners: ['story'],
      redriveOf: null,
      spec: JSON.stringify(spec),
      timeoutMs,
    });
    // Tells the daemons on a shared database; on SQLite they watch the file.
    tx.afterCommit(() => undefined);
    return id;
  });
}

async function allEvents(store: Store, jobId: string): Promise<JobEvent[]> {
  const job = await getJob(store.db, jobId);
  const events: JobEvent[] = [];
  for (;;) {
    const page = await readEvents(store.db, job, events.at(-1)?.seq ?? 0, EVENTS_PER_READ);
    events.push(...page);
    if (page.length < EVENTS_PER_READ) return events;
  }
}

async function allIds(store: Store): Promise<Set<string>> {
  const rows = await store.db.selectFrom('jobs').select('id').execute();
  return new Set(rows.map((row) => row.id));
}

/** The processes that were started for these jobs, by the variable in their environment. */
export function processesOf(jobIds: ReadonlySet<string>): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && jobIds.has(jobIdOf(pid)));
}

function jobIdOf(pid: number): string {
  try {
    return /(?:^|\0)SVC_JOB_ID=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1] ?? '';
  } catch {
    return '';
  }
}

function endLeftovers(jobIds: ReadonlySet<string>): void {
  for (const pid of processesOf(jobIds)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
  }
}
