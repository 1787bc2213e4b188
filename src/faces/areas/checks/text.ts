import { formatDuration } from '../../../domain/duration.ts';
import type { HalfHour } from '../../../domain/checks/check.ts';
import type { Projected } from '../../../views/views.ts';
import { command, type Display, type Paint } from '../../text/display.ts';
import { type Block, sheet, table, type Table, type Text } from '../../text/blocks.ts';
import { relative } from '../../text/time.ts';

type Check = Projected<'check.get'>;
type Target = Check['targets'][number];

const PAINTS: Readonly<Record<Target['status'], Paint>> = { up: 'green', down: 'red', unknown: 'dim' };

function checks(data: Projected<'check.list'>): Table {
  const empty = 'No checks. Create one with: svc check add NAME --kind KIND --interval 30s --target NAME=TARGET';
  return table(data, empty, [
    { title: 'NAME', cell: (each) => each.name },
    { title: 'KIND', cell: (each) => each.kind },
    { title: 'INTERVAL', cell: (each) => each.interval, mayDrop: true },
    { title: 'TARGETS', cell: statusOf, paint: paintOf, mayCut: true },
    { title: 'DOWN', cell: downOf, mayCut: true, mayDrop: true },
  ]);
}

/** How many targets have each status: `1 down, 11 up`. */
function statusOf({ enabled, targets }: Check): string {
  const counts = (['down', 'unknown', 'up'] as const).flatMap((status) => {
    const count = targets.filter((target) => target.status === status).length;
    return count === 0 ? [] : [`${count} ${status}`];
  });
  return `${counts.join(', ')}${enabled ? '' : ' (disabled)'}`;
}

function paintOf({ enabled, targets }: Check): Paint {
  if (!enabled) return PAINTS.unknown;
  if (targets.some(({ status }) => status === 'down')) return PAINTS.down;
  return targets.every(({ status }) => status === 'up') ? PAINTS.up : PAINTS.unknown;
}

function downOf({ targets }: Check): string {
  const down = targets.filter(({ status }) => status === 'down').map(({ name }) => name);
  return down.length === 0 ? '-' : `${down.slice(0, 3).join(', ')}${down.length > 3 ? ', …' : ''}`;
}

function check(data: Check, display: Display): Text {
  return [...checkBlocks(data, display), ...daysOf(data)];
}

/** All but the last 24 hours, which a page draws. */
export function checkBlocks(data: Check, display: Display): Block[] {
  const head = sheet([
    ['Check', data.name],
    ['Kind', data.kind],
    ['Interval', data.interval],
    ['Enabled', data.enabled ? 'yes' : 'no'],
    ['Minimum days', numberOf(data.min_days)],
    ['Method', data.method],
    ['Expected status', data.expect === 0 ? '2xx or 3xx' : numberOf(data.expect)],
    ['Expected text', data.expect_body],
    ['Expected address', data.expect_addr],
    ['Expected number', data.op === undefined ? null : `${data.op} ${data.value}`],
    ['Pointer', data.pointer],
  ]);
  const targets = table(data.targets, 'No targets.', [
    { title: 'TARGET', cell: (each) => each.name, mayCut: true },
    { title: 'STATUS', cell: (each) => each.status, paint: (each) => PAINTS[each.status] },
    { title: 'DETAIL', cell: (each) => detailOf(each), mayDrop: true },
    { title: 'NETGROUP', cell: (each) => each.netgroup ?? '-', mayCut: true, mayDrop: true },
    { title: 'DURATION', cell: (each) => (each.duration_ms === null ? '-' : formatDuration(each.duration_ms)) },
    { title: 'CHANGED', cell: (each) => relative(each.last_change, display.nowMs) },
    { title: 'SNOOZE ENDS', cell: (each) => relative(each.snoozed_until ?? null, display.nowMs) },
  ]);
  const isDown = data.enabled && data.targets.some(({ status }) => status === 'down');
  const reason = isDown ? [`See why a target is down: ${command(display, `check probe ${data.name}`)}\n`] : [];
  return [head, '\n', targets, ...reason, ...sharesOf(data)];
}

/** What the last probe of the daemon found. */
function detailOf({ detail, never_up: neverUp }: Target): string {
  return `${detail ?? '-'}${neverUp === true ? ', never up' : ''}`;
}

const MARKS: Readonly<Record<HalfHour, string>> = { up: '|', down: '!', missed: '?', none: '.' };
const LEGEND = 'A mark is half an hour: | up, ! down at least once, ? unclear, . no observation.\n';

/** The histories of the targets that have one. */
function historiesOf({ targets }: Check): (NonNullable<Target['history']> & { name: string })[] {
  return targets.flatMap(({ name, history }) => (history === undefined ? [] : [{ name, ...history }]));
}

function sharesOf(data: Check): Block[] {
  const rows = historiesOf(data);
  if (rows.length === 0) return [];
  const shares = table(rows, '', [
    { title: 'TARGET', cell: (each) => each.name, mayCut: true },
    { title: 'UP 24H', cell: (each) => percent(each.uptime_24h) },
    { title: '7D', cell: (each) => percent(each.uptime_7d) },
    { title: '30D', cell: (each) => percent(each.uptime_30d) },
    { title: '90D', cell: quarterOf },
    { title: 'P50', cell: (each) => milliseconds(each.p50_ms) },
    { title: 'P90', cell: (each) => milliseconds(each.p90_ms), mayDrop: true },
    { title: 'P99', cell: (each) => milliseconds(each.p99_ms), mayDrop: true },
  ]);
  return ['\n', shares];
}

function daysOf(data: Check): Block[] {
  const rows = historiesOf(data);
  if (rows.length === 0) return [];
  const days = table(rows, '', [
    { title: 'TARGET', cell: (each) => each.name, mayCut: true },
    { title: 'LAST 24 HOURS', cell: (each) => each.half_hours.map((worst) => MARKS[worst]).join('') },
  ]);
  return ['\n', days, LEGEND];
}

/** Of a younger target since when it is observed. */
function quarterOf({ uptime_90d: share, observed_since: since }: NonNullable<Target['history']>): string {
  return percent(share) + (since === undefined ? '' : ` since ${since.slice(0, 10)}`);
}

/** Down, so that 100 % means never down. */
export function percent(share: number | null): string {
  return share === null ? '-' : `${(Math.floor(share * 10_000) / 100).toFixed(share === 1 ? 0 : 2)} %`;
}

function milliseconds(value: number | null): string {
  return value === null ? '-' : `${value.toFixed(value < 10 ? 1 : 0)}ms`;
}

function probed({ targets }: Projected<'check.probe'>): Table {
  return table(targets, 'No targets.', [
    { title: 'TARGET', cell: (each) => each.target, mayCut: true },
    { title: 'RESULT', cell: ({ up }) => (up ? 'up' : 'down'), paint: ({ up }) => PAINTS[up ? 'up' : 'down'] },
    { title: 'DETAIL', cell: (each) => each.detail },
    { title: 'DURATION', cell: (each) => formatDuration(each.duration_ms) },
    { title: 'NETGROUP', cell: (each) => each.netgroup ?? '-', mayCut: true, mayDrop: true },
  ]);
}

function numberOf(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

export const CHECKS_TEXTS = { 'check.list': checks, 'check.get': check, 'check.probe': probed };
