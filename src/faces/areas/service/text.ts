import type { Projected } from '../../../views/views.ts';
import type { Display, Paint } from '../../text/display.ts';
import { marked } from '../../text/marks.ts';
import { sheet, type Sheet, table, type Table, type Text } from '../../text/blocks.ts';
import { absolute, relative } from '../../text/time.ts';

const STATUS_PAINT: Readonly<Record<Projected<'doctor'>[number]['status'], Paint>> = {
  ok: 'green',
  warn: 'yellow',
  fail: 'red',
  unknown: 'dim',
};

function whoami(data: Projected<'whoami'>, display: Display): Sheet {
  const { server } = data;
  return sheet([
    ['Name', data.name],
    ['Id', data.id],
    ['Scope', data.scope],
    ...agentRows(data),
    ['Via', data.via],
    ['Expires', data.expires_at === null ? 'never' : absolute(data.expires_at, display.nowMs)],
    ['Server', [server.hostname, server.version].filter((part) => part !== undefined).join(' ') || '-'],
    ['Started', server.started_at === undefined ? null : absolute(server.started_at, display.nowMs)],
  ]);
}

function doctor(data: Projected<'doctor'>, display: Display): Table {
  return table(data, 'No checks.', [
    { title: 'STATUS', cell: (entry) => marked(display, entry.status), paint: (entry) => STATUS_PAINT[entry.status] },
    { title: 'CHECK', cell: (entry) => entry.name },
    { title: 'DETAIL', cell: (entry) => entry.detail, mayWrap: true },
  ]);
}

const NODE_PAINT = { running: undefined, cordoned: 'yellow', gone: 'red' } as const;

function isLocked(node: Projected<'node.list'>[number]): boolean {
  return node.state !== 'gone' && node.last_seen_at === null;
}

function nodes(data: Projected<'node.list'>, display: Display): Table {
  return table(data, 'No daemon has started yet. Start one with: svc serve', [
    { title: 'NAME', cell: (node) => node.name },
    { title: 'JOBS', cell: (node) => String(node.running_jobs) },
    { title: 'STATE', cell: (node) => node.state, paint: (node) => NODE_PAINT[node.state] },
    // A daemon that holds its lock is seen at each look.
    { title: 'SEEN', cell: (node) => (isLocked(node) ? 'now' : relative(node.last_seen_at, display.nowMs)) },
    { title: 'STARTED', cell: (node) => relative(node.started_at, display.nowMs) },
    { title: 'VERSION', cell: (node) => node.version },
  ]);
}

function readiness(data: Projected<'maintenance.readiness'>, display: Display): Text {
  const head = sheet([
    ['Safe to reboot', data.safe_to_reboot ? 'yes' : data.cordoned ? 'no' : 'no, jobs may start'],
    ['Cordoned', data.cordoned ? 'yes' : 'no'],
    ['Running jobs', String(data.in_flight)],
  ]);
  if (data.running.length === 0) return head;
  const running = table(data.running, '', [
    { title: 'JOB', cell: (job) => job.job_id },
    { title: 'KIND', cell: (job) => job.kind },
    { title: 'NODE', cell: (job) => job.node ?? '-' },
    { title: 'STARTED', cell: (job) => relative(job.started_at, display.nowMs) },
  ]);
  return [head, '\n', running];
}

function restart(data: Projected<'maintenance.restart'>, display: Display): Sheet {
  const time = (at: string | null): string | null => (at === null ? null : relative(at, display.nowMs));
  return sheet([
    ['Daemon', data.node],
    ['State', data.state],
    ['Cordoned', data.cordoned ? 'yes' : 'no'],
    ['Running jobs', String(data.in_flight)],
    ['Requested', time(data.requested_at)],
    ['Forced', data.forced ? 'yes' : null],
    ['Waits until', time(data.drain_deadline)],
    ['Ended', time(data.finished_at)],
    ['Reason', data.reason],
  ]);
}

function reload({ schedules, transports, restart_needed: names }: Projected<'maintenance.reload'>): Sheet {
  return sheet([
    ['Schedules', String(schedules)],
    ['Targets', String(transports)],
    ['Needs a restart', names.length === 0 ? null : names.map((name) => `--${name}`).join(', ')],
  ]);
}

/** Of a token of a program: that it is one, and all that it writes. */
function agentRows({
  agent,
  only,
}: Pick<Projected<'token.get'>, 'agent' | 'only'>): (readonly [string, string | null])[] {
  return [
    ['Program', agent === true ? 'cannot sign in, decides nothing' : null],
    ['Writes only', only?.join(', ') ?? null],
  ];
}

function tokens(data: Projected<'token.list'>, display: Display): Table {
  return table(data, 'No tokens. Create one with: svc token create --name NAME --scope operator', [
    { title: 'NAME', cell: (token) => token.name },
    { title: 'SCOPE', cell: (token) => (token.agent === true ? `${token.scope}, program` : token.scope) },
    { title: 'OWNER', cell: (token) => token.owner, mayDrop: true },
    { title: 'CREATED', cell: (token) => relative(token.created_at, display.nowMs), mayDrop: true },
    {
      title: 'ENDS',
      cell: (token) => end(token, display),
      paint: (token) => (token.revoked_at === null ? undefined : 'dim'),
    },
    { title: 'ID', cell: (token) => token.id, mayDrop: true },
  ]);
}

function token(data: Projected<'token.get'>, display: Display): Sheet {
  return sheet([
    ['Token', data.name],
    ['Id', data.id],
    ['Scope', data.scope],
    ...agentRows(data),
    ['Owner', data.owner],
    ['Created', absolute(data.created_at, display.nowMs)],
    ['Expires', data.expires_at === null ? 'never' : absolute(data.expires_at, display.nowMs)],
    ['Revoked', absolute(data.revoked_at, display.nowMs)],
  ]);
}

function end(token: Projected<'token.list'>[number], display: Display): string {
  if (token.revoked_at !== null) return `revoked ${relative(token.revoked_at, display.nowMs)}`;
  return token.expires_at === null ? 'never' : relative(token.expires_at, display.nowMs);
}

/** The words about the token. The token alone is on standard output: see SECRETS in render.ts. */
function tokenCreated(data: Projected<'token.created'>, display: Display): string {
  const until = data.expires_at === null ? 'until it is revoked' : `until ${absolute(data.expires_at, display.nowMs)}`;
  return `Token ${data.name}, scope ${data.scope}, valid ${until}. It is shown only now:\n`;
}

export const SERVICE_TEXTS = {
  whoami,
  doctor,
  'token.list': tokens,
  'token.get': token,
  'token.created': tokenCreated,
  'maintenance.readiness': readiness,
  'maintenance.reload': reload,
  'maintenance.restart': restart,
  'node.list': nodes,
};
