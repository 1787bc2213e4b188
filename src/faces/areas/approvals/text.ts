import { noDecider } from '../../../domain/approvals/deciders.ts';
import type { Projected } from '../../../views/views.ts';
import { shortCounts } from '../../../domain/plan-words.ts';
import { command, type Display, type Paint, paint } from '../../text/display.ts';
import { inline } from '../../text/safe.ts';
import { movedBy } from '../../text/stale.ts';
import { marked } from '../../text/marks.ts';
import { sheet, table, type Table, type Text } from '../../text/blocks.ts';
import { absolute, relative } from '../../text/time.ts';

type Approval = Projected<'approval.list'>[number];

export const APPROVAL_PAINTS: Readonly<Record<Approval['state'], Paint>> = {
  pending: 'magenta',
  approved: 'green',
  rejected: 'red',
  expired: 'dim',
};

function approvals(data: Projected<'approval.list'>, display: Display): Table {
  return table(data, 'No pending approvals.', [
    { title: 'STATE', cell: (each) => marked(display, each.state), paint: (each) => APPROVAL_PAINTS[each.state] },
    { title: 'ID', cell: (each) => each.id },
    { title: 'WHAT', cell: whatOf, mayCut: true },
    { title: 'ENDS', cell: (each) => end(each, display) },
    { title: 'ASKED BY', cell: (each) => each.requested_by, mayCut: true, mayDrop: true },
    { title: 'RUNBOOK', cell: (each) => each.runbook, mayCut: true, mayDrop: true },
    { title: 'CREATED', cell: (each) => relative(each.created_at, display.nowMs), mayDrop: true },
  ]);
}

/** Tells the requests of one rule apart, and those of one workspace. */
function whatOf({ kind, workspace, summary, plan_artifact_id: plan }: Approval): string {
  return plan === null || workspace === null ? summary : `${kind} ${workspace}: ${shortCounts(summary)}`;
}

function approval(data: Projected<'approval.get'>, display: Display): Text {
  const { stale, provenance } = data;
  const shown = sheet([
    ['Approval', data.id],
    ['State', marked(display, data.state)],
    ['Summary', data.summary],
    ['Runbook', data.runbook],
    ['Workspace', data.workspace],
    ['Plan', data.plan_artifact_id],
    ['Job', data.job_id],
    ['Why asked', data.policy],
    ['Asked by', data.requested_by],
    ['Because', data.because],
    ['Came from', cameFrom(provenance, display)],
    ['Created', absolute(data.created_at, display.nowMs)],
    ['Expires', data.state === 'pending' ? absolute(data.expires_at, display.nowMs) : null],
    ['Decided', data.decided_at === null ? null : `${absolute(data.decided_at, display.nowMs)}${by(data)}`],
    ['Reason', data.reason],
    ['Changed', data.changed],
    ['Stale', stale === undefined ? null : movedBy(stale, display.nowMs)],
    ['Undecidable', data.missing_scopes === undefined ? null : noDecider(data.missing_scopes)],
  ]);
  return [shown, next(data, display)];
}

/** The next commands for a person at the prompt. */
function next(
  { id, job_id: job, state, stale, workspace, plan_artifact_id: plan, provenance }: Projected<'approval.get'>,
  display: Display,
): string {
  const line = (title: string, words: string): string => `${inline(`${title}: ${command(display, words)}`)}\n`;
  const event = provenance.alert === undefined ? '' : line('See the event', `event get ${provenance.alert}`);
  if (state !== 'pending') return event;
  if (stale !== undefined) {
    const again = command(display, `workspace plan ${workspace ?? 'NAME'}`);
    const end = command(display, `job cancel ${job}`);
    const lines = [`It can no longer be approved. Make a new plan: ${again}`, `End the request: ${end}`];
    return event + lines.map((text) => `${inline(text)}\n`).join('');
  }
  const see = event + (plan === null ? '' : line('See its plan', `approval plan ${id}`));
  const decide = (verb: string): string => command(display, `approval ${verb} ${id}`);
  return `${see}${inline(`Decide: ${decide('approve')}, or ${decide('reject')}`)}\n`;
}

function by({ decided_by: who, decided_via: via }: Approval): string {
  return who === null ? '' : `, by ${who}${via === null ? '' : ` via ${via}`}`;
}

function end(each: Approval, display: Display): string {
  if (each.state === 'pending') return relative(each.expires_at, display.nowMs);
  return `${relative(each.decided_at ?? each.expires_at, display.nowMs)}${by(each)}`;
}

function cameFrom(
  { origin, alert, rule, matched_at: at }: Projected<'approval.get'>['provenance'],
  display: Display,
): string {
  if (origin !== 'alert') return origin;
  const event = alert === undefined ? 'an alert' : `alert ${alert}`;
  return [
    event,
    ...(rule === undefined ? [] : [`matched by rule ${rule}`]),
    ...(at === undefined ? [] : [relative(at, display.nowMs)]),
  ].join(', ');
}

function pending(data: Projected<'approval.pending'>, display: Display): string {
  const head = paint(display, 'magenta', inline(`◆ Waiting for approval ${data.approval_id}`));
  return [
    head +
      inline(
        ` (policy ${data.policy}), until ${absolute(data.expires_at, display.nowMs)}. ` +
          'Exit 0: the request was accepted.',
      ),
    data.missing_scopes === undefined
      ? '  Who can decide: any token with scope approve, except those of the requesters. Undecided, it expires.'
      : inline(`  ${noDecider(data.missing_scopes)} Undecided, it expires.`),
    ...(data.plan_artifact_id === null
      ? []
      : [inline(`  See it:  ${command(display, `approval plan ${data.approval_id}`)}`)]),
    inline(`  Watch:   ${command(display, 'approval watch')}`),
    inline(`  Then:    ${command(display, `job tail ${data.job_id}`)}`),
    '',
  ].join('\n');
}

function decision(data: Projected<'approval.decision'>, display: Display): string {
  const { approval_id: id, job_id: job, state, job_state: jobState } = data;
  const word = paint(display, APPROVAL_PAINTS[state], inline(state.charAt(0).toUpperCase() + state.slice(1)));
  const head = `${word}${inline(`: ${id}. Job ${job} is ${jobState}.`)}\n`;
  return state === 'approved' ? `${head}${inline(`Follow it with: ${command(display, `job tail ${job}`)}`)}\n` : head;
}

/** The only display that contains the links. */
function link(data: Projected<'approval.link'>, display: Display): string {
  const lines = [
    `Links with which ${data.recipient} decides ${data.approval_id}, until ` +
      `${absolute(data.expires_at, display.nowMs)}.`,
    'Anyone who has a link can use it, once. The links are shown only now.',
    '',
    `Approve: ${data.approve}`,
    `Reject:  ${data.reject}`,
  ];
  return lines.map((each) => `${inline(each)}\n`).join('');
}

export const APPROVALS_TEXTS = {
  'approval.pending': pending,
  'approval.list': approvals,
  'approval.get': approval,
  'approval.decision': decision,
  'approval.link': link,
};
