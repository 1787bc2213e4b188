/**
 * What a playbook run reports while it runs: one JSON object a line, written by
 * src/runners/ansible/gatehouse_report.py. A task of the run may write to the same pipe, so every line is checked.
 */

/** How a task ended on a host. `rescued`: it failed, and the `rescue` part of its block was run. */
const TASK_STATUSES = ['ok', 'changed', 'failed', 'unreachable', 'skipped', 'ignored', 'rescued'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** The counts of a host at the end. A failure that was ignored or rescued is not counted in `failures`. */
const HOST_COUNTS = ['ok', 'changed', 'failures', 'unreachable', 'skipped', 'rescued', 'ignored'] as const;
type HostCount = (typeof HOST_COUNTS)[number];
export type HostCounts = Readonly<Record<HostCount, number>>;

export type ReportEvent =
  | { readonly event: 'play'; readonly name: string }
  /** The play before it addresses no host. */
  | { readonly event: 'no_hosts' }
  | { readonly event: 'task'; readonly task: number; readonly name: string }
  | { readonly event: 'host'; readonly host: number; readonly name: string }
  | {
      readonly event: 'result';
      readonly host: number;
      readonly task: number;
      readonly status: TaskStatus;
      /** Of a failure. */
      readonly message: string | null;
    }
  | { readonly event: 'total'; readonly host: string; readonly counts: HostCounts }
  /** `plays_left`: plays that never began. `hosts_left`: addressed hosts whose batch never began. */
  | { readonly event: 'end'; readonly plays_left: number; readonly hosts_left: number };

/** Of one text, as in the Python file, which counts what has two units here as one. */
const CHARACTERS_MAX = 8_000;

/** Reads one line; null where it is no event. */
export function readReportLine(line: string): ReportEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const fields = value as Readonly<Record<string, unknown>>;
  const read = Object.hasOwn(READERS, String(fields['event'])) ? READERS[fields['event'] as EventName] : null;
  try {
    return read === null ? null : read(fields);
  } catch (error) {
    if (error instanceof NotAnEvent) return null;
    throw error;
  }
}

type EventName = ReportEvent['event'];
type Fields = Readonly<Record<string, unknown>>;
type EventOf<N extends EventName> = Extract<ReportEvent, { readonly event: N }>;

const READERS: { readonly [N in EventName]: (fields: Fields) => EventOf<N> } = {
  play: (fields) => ({ event: 'play', name: text(fields['name']) }),
  no_hosts: () => ({ event: 'no_hosts' }),
  task: (fields) => ({ event: 'task', task: count(fields['task']), name: text(fields['name']) }),
  host: (fields) => ({ event: 'host', host: count(fields['host']), name: text(fields['name']) }),
  result: (fields) => ({
    event: 'result',
    host: count(fields['host']),
    task: count(fields['task']),
    status: status(fields['status']),
    message: fields['message'] === undefined ? null : text(fields['message']),
  }),
  total: (fields) => ({
    event: 'total',
    host: text(fields['host']),
    counts: Object.fromEntries(HOST_COUNTS.map((name) => [name, count(fields[name])])) as Record<HostCount, number>,
  }),
  end: (fields) => ({ event: 'end', plays_left: count(fields['plays_left']), hosts_left: count(fields['hosts_left']) }),
};

class NotAnEvent extends Error {}

function text(value: unknown): string {
  if (typeof value !== 'string' || value.length > 2 * CHARACTERS_MAX) throw new NotAnEvent();
  return value.toWellFormed();
}

function count(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new NotAnEvent();
  return value;
}

function status(value: unknown): TaskStatus {
  const found = TASK_STATUSES.find((each) => each === value);
  if (found === undefined) throw new NotAnEvent();
  return found;
}
