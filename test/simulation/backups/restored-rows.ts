/** What a restored store may have otherwise than its backup, by table: docs/how-to/back-up-and-restore.md. */
import type { Rows } from '../rules/rules.ts';

type Row = Readonly<Record<string, unknown>>;

interface Change {
  /** Columns that may differ where `of` holds. */
  readonly columns?: readonly string[];
  /** Of which rows of the backup; all where it is left out. */
  readonly of?: (row: Row) => boolean;
  /** Whether the row of the restored store is right. */
  readonly isRight?: (row: Row, before: Row) => boolean;
  /** No row is left. */
  readonly isEmptied?: true;
  /** Rows that the backup does not have. */
  readonly hasMore?: true;
}

const ENDS = new Map<unknown, string>([
  ['queued', 'interrupted'],
  ['running', 'interrupted'],
  ['awaiting_approval', 'cancelled'],
]);
const isOpen = ({ state }: Row): boolean => ENDS.has(state);
const END_COLUMNS = ['state', 'finished_at', 'expires_at', 'blocked', 'reason'];

const CHANGES: Readonly<Record<string, readonly Change[]>> = {
  jobs: [
    {
      columns: END_COLUMNS,
      of: isOpen,
      isRight: ({ state, reason }, before) => state === ENDS.get(before['state']) && reason === 'restored from backup',
    },
    {
      columns: ['outcome_event_id', 'drift_status'],
      isRight: ({ outcome_event_id: event }, before) => event === (before['outcome_event_id'] ?? ''),
    },
  ],
  job_chunks: [{ hasMore: true }],
  job_partials: [{ isEmptied: true }],
  job_follows: [{ isEmptied: true }],
  approvals: [
    {
      columns: ['state', 'decided_at', 'reason'],
      of: ({ state }) => state === 'pending',
      isRight: ({ state }) => state === 'expired',
    },
  ],
  workflow_runs: [
    {
      columns: ['state', 'finished_at', 'unfinished'],
      of: ({ state }) => state === 'running',
      isRight: ({ state }) => state === 'interrupted',
    },
    { columns: ['outcome_event_id'], isRight: ({ outcome_event_id: event }) => event !== null },
  ],
  workflow_steps: [
    {
      columns: ['state', 'reason', 'order_tag', 'order_key_id'],
      of: ({ state }) => state === 'waiting' || state === 'started',
      isRight: ({ state }) => state !== 'waiting' && state !== 'started',
    },
  ],
  deliveries: [
    {
      columns: ['state', 'failure', 'settled_at'],
      of: ({ state }) => state === 'waiting',
      isRight: ({ state }) => state === 'dead',
    },
  ],
  pages: [
    {
      columns: ['state', 'reason'],
      of: ({ state }) => state === 'new' || state === 'sending',
      isRight: ({ state }) => state === 'done',
    },
    { columns: ['followed'], isRight: ({ followed }) => followed === 1 },
  ],
  armed_jobs: [{ columns: ['done_at'], isRight: ({ done_at: at }) => at !== null }],
  sessions: [{ isEmptied: true }],
  cordon: [{ columns: ['cordoned_at', 'cordoned_by'], isRight: ({ cordoned_at: at }) => at !== null, hasMore: true }],
  daemons: [{ columns: ['stopped_at'], isRight: ({ stopped_at: at }) => at !== null }],
  schedules: [{ columns: ['next_at'], isRight: ({ next_at: at }, before) => at === null || at === before['next_at'] }],
  workspaces: [
    {
      columns: ['drift', 'drift_checked_at', 'last_apply_job_id', 'last_apply_at'],
      isRight: ({ drift }) => drift === 'unknown',
    },
  ],
  // A run that was interrupted may have changed its workspace.
  causes: [{ columns: ['position', 'seen'], hasMore: true }],
  chains: [{ columns: ['length', 'head'], hasMore: true }],
  ledger: [{ hasMore: true }],
  // It is found again in the folder of backups.
  backups: [{ hasMore: true }],
};

const TABLES = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name";

/** Sentences, each of which is a difference that must not be. */
export function* wrongRows(backup: Rows, restored: Rows): Generator<string> {
  for (const { name } of backup(TABLES)) {
    const table = String(name);
    const changes = CHANGES[table] ?? [];
    const key = keyOf(backup, table);
    const after = new Map(restored(`select * from "${table}"`).map((row) => [key(row), row]));
    for (const row of backup(`select * from "${table}"`)) {
      const found = after.get(key(row));
      after.delete(key(row));
      const isEmptied = changes.some((change) => change.isEmptied === true);
      if (isEmptied !== (found === undefined))
        yield `${table} ${key(row)} is ${found === undefined ? 'not restored' : 'restored'}`;
      else if (found !== undefined) yield* wrongColumns(`${table} ${key(row)}`, row, found, changes);
    }
    const more = [...after.keys()];
    if (more.length > 0 && !changes.some(({ hasMore = false }) => hasMore))
      yield `${table} has ${more.join(', ')}, which the backup has not`;
  }
  yield* wrongLedger(backup, restored);
}

function keyOf(rows: Rows, table: string): (row: Row) => string {
  const keys = rows(`select name from pragma_table_info('${table}') where pk > 0 order by pk`);
  const names = keys.map(({ name }) => String(name));
  return (row) => (names.length === 0 ? text(row) : names.map((name) => String(row[name])).join(' '));
}

function* wrongColumns(what: string, before: Row, after: Row, all: readonly Change[]): Generator<string> {
  const changes = all.filter(({ of }) => of?.(before) ?? true);
  const may = new Set(changes.flatMap(({ columns = [] }) => columns));
  for (const name of Object.keys(before))
    if (text(before[name]) !== text(after[name]) && !may.has(name))
      yield `${name} of ${what} was ${text(before[name])}, and is ${text(after[name])}`;
  if (changes.some(({ isRight }) => isRight?.(after, before) === false))
    yield `${what} was ${text(before)}, and is restored as ${text(after)}`;
}

/** One row says that the store was restored, and the output of each job that was open has a line more. */
function* wrongLedger(backup: Rows, restored: Rows): Generator<string> {
  const [said] = restored("select count(*) as n from ledger where operation = 'backup.restore'");
  const [saidBefore] = backup("select count(*) as n from ledger where operation = 'backup.restore'");
  if (count(restored, 'ledger') !== count(backup, 'ledger') + 1 || said?.['n'] !== Number(saidBefore?.['n']) + 1)
    yield 'the ledger has not exactly one row of the restore';
  const open = backup('select state from jobs').filter(isOpen).length;
  if (count(restored, 'job_chunks') !== count(backup, 'job_chunks') + open)
    yield 'not each job that was open says in its output that it was restored';
}

function count(rows: Rows, table: string): number {
  return Number(rows(`select count(*) as n from ${table}`)[0]?.['n']);
}

function text(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    each instanceof Uint8Array ? Buffer.from(each).toString('hex') : each,
  );
}
