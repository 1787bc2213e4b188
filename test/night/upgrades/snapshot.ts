/** All that a build shows of its data: what the older build showed, this build must show with the same values. */
import { isDeepStrictEqual } from 'node:util';
import { TERMINAL } from '../../support/api-client.ts';
import type { Session } from './place.ts';

type Row = Readonly<Record<string, unknown>>;

interface Read {
  readonly name: string;
  /** The schema of the first build that answers it. */
  readonly since: number;
  /** A path of the API, or the words of a verb where it has no route. */
  readonly from: string | readonly string[];
  /** The fields by which a row is found again. */
  readonly key: readonly string[];
  /** For each row too: the path of its details. */
  readonly details?: readonly ((row: Row) => string)[];
  /** Fields that may differ, and why. */
  readonly mayChange?: Readonly<Record<string, string>>;
  /** Rows that do not change by themselves. */
  readonly isKept?: (row: Row) => boolean;
}

const READS: readonly Read[] = [
  {
    name: 'jobs',
    since: 1,
    from: '/jobs?limit=0',
    key: ['id'],
    details: [(row) => `/jobs/${String(row['id'])}`, (row) => `/jobs/${String(row['id'])}/events`],
    isKept: ({ state }) => TERMINAL.includes(String(state)),
  },
  { name: 'tokens', since: 1, from: ['token', 'list'], key: ['id'] },
  {
    name: 'approvals',
    since: 10,
    from: '/approvals?all=true',
    key: ['id'],
    details: [(row) => `/approvals/${String(row['id'])}`],
    mayChange: { summary: 'a replacement is counted as one, and no longer as a destroy and a create' },
  },
  {
    name: 'events',
    since: 10,
    from: '/events?limit=0',
    key: ['id'],
    details: [(row) => `/events/${String(row['id'])}`],
  },
  { name: 'workspaces', since: 10, from: '/workspaces', key: ['name'] },
  { name: 'rules', since: 10, from: '/rules', key: ['name'] },
  { name: 'silences', since: 10, from: '/silences', key: ['id'] },
  { name: 'mutes', since: 10, from: '/mutes', key: ['id'] },
  { name: 'schedules', since: 10, from: '/schedules', key: ['name'] },
  { name: 'sources', since: 10, from: '/sources', key: ['name'] },
  { name: 'secrets', since: 10, from: '/secrets', key: ['project', 'name'] },
  { name: 'webhooks', since: 10, from: ['webhook', 'list'], key: ['name'] },
  { name: 'watches', since: 10, from: ['deadman', 'list'], key: ['name'] },
  { name: 'inventories', since: 23, from: ['inventory', 'list'], key: ['name'] },
  { name: 'workflows', since: 23, from: ['workflow', 'list'], key: ['name'] },
  { name: 'audit', since: 23, from: '/audit?limit=0', key: ['chain', 'seq'] },
  { name: 'checks', since: 34, from: '/checks', key: ['name'] },
  { name: 'netgroups', since: 34, from: '/netgroups', key: ['name'] },
];

interface Taken {
  readonly read: Read;
  readonly row: Row;
  readonly details: readonly { readonly path: string; readonly data: unknown }[];
}

export type Snapshot = readonly Taken[];

export async function takeSnapshot(session: Session, schema: number): Promise<Snapshot> {
  const taken: Taken[] = [];
  for (const read of READS.filter(({ since }) => since <= schema)) {
    const rows = (await rowsOf(session, read)).filter(read.isKept ?? (() => true));
    for (const row of rows) {
      const paths = (read.details ?? []).map((path) => path(row));
      const details = [];
      for (const path of paths) details.push({ path, data: await answerOf(session, path) });
      taken.push({ read, row, details });
    }
  }
  return taken;
}

/** What this build does not show as the older one did, as sentences. */
export async function differences(now: Session, before: Snapshot): Promise<string[]> {
  const found: string[] = [];
  const lists = new Map<Read, Row[]>();
  for (const { read, row, details } of before) {
    const rows = lists.get(read) ?? (await rowsOf(now, read));
    lists.set(read, rows);
    const id = read.key.map((field) => String(row[field])).join(' ');
    const same = rows.find((each) => read.key.every((field) => each[field] === row[field]));
    const mayChange = Object.keys(read.mayChange ?? {});
    if (same === undefined) found.push(`${read.name} ${id} is lost`);
    else found.push(...fieldsThatDiffer(row, same, mayChange).map((text) => `${read.name} ${id}: ${text}`));
    for (const { path, data } of details)
      found.push(...fieldsThatDiffer(data, await answerOf(now, path), mayChange).map((text) => `${path}: ${text}`));
  }
  return found;
}

/** Fields that only `after` has are new ones. */
function fieldsThatDiffer(before: unknown, after: unknown, mayChange: readonly string[], at = ''): string[] {
  if (isObject(before) && isObject(after)) {
    return Object.entries(before)
      .filter(([field]) => !mayChange.includes(field))
      .flatMap(([field, value]) => fieldsThatDiffer(value, after[field], mayChange, `${at}.${field}`));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((value, i) => fieldsThatDiffer(value, after[i], mayChange, `${at}[${i}]`));
  return isDeepStrictEqual(before, after)
    ? []
    : [`${at || 'it'} was ${JSON.stringify(before)} and is ${JSON.stringify(after)}`];
}

function isObject(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function rowsOf(session: Session, { from }: Read): Promise<Row[]> {
  const data = typeof from === 'string' ? await answerOf(session, from) : await session.verb(from);
  if (!Array.isArray(data)) throw new Error(`${String(from)} answers no list`);
  return data.filter(isObject);
}

async function answerOf({ operator }: Session, path: string): Promise<unknown> {
  const { status, text, data } = await operator.get(path);
  if (status !== 200) throw new Error(`${path} answers ${status}: ${text}`);
  return data;
}
