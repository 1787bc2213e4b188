import { SSH_PORT } from '../../../domain/inventories/connection.ts';
import type { Projected } from '../../../views/views.ts';
import { actionText } from '../../text/actions.ts';
import { reasonText, steps } from '../events/text.ts';
import type { Display } from '../../text/display.ts';
import { sheet, type Sheet, table, type Table, type Text } from '../../text/blocks.ts';
import { absolute, relative } from '../../text/time.ts';

type Listed = Projected<'rule.list'>[number];
type Silence = Projected<'silence.get'>;

function state({ enabled, silenced_until: until }: Listed, display: Display): string {
  const silenced = until === undefined ? '' : `, silenced (ends ${relative(until, display.nowMs)})`;
  return `${enabled ? 'enabled' : 'disabled'}${silenced}`;
}

function rules(data: Projected<'rule.list'>, display: Display): Table {
  return table(data, 'No rules. Add one with: svc rule add NAME --file rule.yaml', [
    { title: 'NAME', cell: (each) => each.name },
    {
      title: 'STATE',
      cell: (each) => state(each, display),
      paint: (each) => (!each.enabled ? 'dim' : each.silenced_until === undefined ? undefined : 'yellow'),
      mayCut: true,
    },
    { title: 'DOES', cell: actionText, mayCut: true },
    { title: 'APPROVAL', cell: (each) => each.approval },
    { title: 'COOLDOWN', cell: (each) => each.cooldown ?? '-', mayDrop: true },
    { title: 'LAST FIRED', cell: (each) => relative(each.last_fired_at, display.nowMs), mayDrop: true },
    { title: 'WHEN', cell: (each) => each.when.trim(), mayCut: true, mayDrop: true },
  ]);
}

function rule(data: Projected<'rule.get'>, display: Display): Sheet {
  const ttl = data.approval_ttl === null ? '' : `, for ${data.approval_ttl}`;
  const { silenced_until: until, silence_id: silencedBy = '-', ended_silences: ended } = data;
  return sheet([
    ['Rule', data.name],
    // A removed rule has none; a line here would suggest otherwise.
    ['State', ended === undefined ? (data.enabled ? 'enabled' : 'disabled') : null],
    ['Silenced', until === undefined ? null : `until ${absolute(until, display.nowMs)}, by ${silencedBy}`],
    [
      'Also ended',
      ended === undefined || ended.length === 0
        ? null
        : `its ${ended.length === 1 ? 'silence' : 'silences'} ${ended.join(', ')}`,
    ],
    ['When', data.when.trim()],
    ['Does', actionText(data)],
    ['Approval', data.approval === 'required' ? `required${ttl}` : data.approval],
    ['Cooldown', data.cooldown ?? 'none'],
    ['Sandbox', sandboxText(data)],
    ['Timeout', 'timeout' in data.action ? data.action.timeout : null],
    ['Added by', data.added_by],
    ['Changed', absolute(data.updated_at, display.nowMs)],
    ['Last fired', absolute(data.last_fired_at, display.nowMs)],
    // The command and the summary are shown on the machine itself only.
    ['File', ended === undefined ? `svc rule export ${data.name}` : null],
  ]);
}

/** What it refuses to the jobs of the rule. */
function sandboxText({ reach }: Pick<Projected<'rule.test'>, 'reach'>): string | null {
  if (reach === undefined) return null;
  if (reach.privileged) return 'none: its jobs are privileged';
  const ports = [SSH_PORT, ...reach.egress_ports].join(', ');
  const paths = ['the directory of the job', ...reach.writable].join(', ');
  return `connects only to TCP ports ${ports} and the SSH ports of its hosts; writes only ${paths}`;
}

/** The file as it is, without a title, so that it can be added again. */
function ruleFile({ text }: Projected<'rule.exported'>): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function ruleTest(data: Projected<'rule.test'>, display: Display): Text {
  const head = sheet([
    ['Rule', data.rule],
    ['Event', data.event_id],
    ['Fires', data.fires ? 'yes' : 'no'],
    ['Outcome', data.outcome],
    ['Why', reasonText(data.reason)],
    ['Sandbox', sandboxText(data)],
  ]);
  return [head, `\n${steps(data.trace, display)}`];
}

function stops({ rule: name, when }: Silence): string {
  const only = when === null ? '' : ` when ${when}`;
  return `${name ?? 'all rules'}${only}`;
}

function silences(data: Projected<'silence.list'>, display: Display): Table {
  return table(data, 'No silences. Add one with: svc silence add --rule NAME --for 1h --reason TEXT', [
    { title: 'ID', cell: (each) => each.id },
    { title: 'STOPS', cell: stops, mayCut: true },
    { title: 'REASON', cell: (each) => each.reason, mayCut: true },
    { title: 'ENDS', cell: (each) => relative(each.expires_at, display.nowMs) },
  ]);
}

function silence(data: Silence, display: Display): Sheet {
  return sheet([
    ['Silence', data.id],
    ['Stops', stops(data)],
    ['Reason', data.reason],
    ['Since', absolute(data.created_at, display.nowMs)],
    ['Ends', absolute(data.expires_at, display.nowMs)],
  ]);
}

export const RULES_TEXTS = {
  'rule.list': rules,
  'rule.get': rule,
  'rule.exported': ruleFile,
  'rule.test': ruleTest,
  'silence.list': silences,
  'silence.get': silence,
};
