import { toJob } from '../../console/action.ts';
import type { AreaPages } from '../../console/area-pages.ts';
import { noDecider } from '../../../domain/approvals/deciders.ts';
import { Failure } from '../../../domain/failure.ts';
import { KINDS } from '../../../domain/kinds.ts';
import type { Projected } from '../../../views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { movedBy } from '../../text/stale.ts';
import { timeLeft } from '../../../domain/duration.ts';
import { relative, timeHere } from '../../text/time.ts';
import { APPROVAL_PAINTS } from './text.ts';
import { linked } from '../../console/blocks.ts';
import { mark } from '../../console/marks.ts';
import { planHtml } from './plan.ts';
import { orderHtml } from '../jobs/order.ts';
import type { Page, PageRequest } from '../../console/page.ts';
import { plainPage } from '../../console/plain.ts';

type Approval = Projected<'approval.get'>;
type Plan = Projected<'approval.plan'>;

const LIST = plainPage({
  path: '/approvals',
  section: 'Approvals',
  title: 'Approvals',
  parts: [{ operation: 'approval.list', kind: 'approval.list' }],
});

const APPROVAL: Page = {
  path: '/approvals/:id',
  section: 'Approvals',
  title: 'Approval',
  reads: ['approval.get', 'approval.plan', 'approval.order'],
  async show(request) {
    const approval = await request.ask('approval.get', 'approval.get', request.params);
    const [plan, order] = await Promise.all([planOf(approval, request), orderHtml('approval.order', request)]);
    const content = html`${warning(approval, plan, request)}<div class="two">
<section>${order}${planSection(approval, plan, request)}</section>
<section><h2>${approval.state === 'pending' ? 'Before you decide' : 'What was decided'}</h2>
${facts(approval, request)}</section>
</div>
${decision(approval, plan, request)}`;
    const state = mark(approval.state, APPROVAL_PAINTS[approval.state]);
    return { title: titleOf(approval), state, content };
  },
};

/** Null without a plan, and for a visitor who may not see its values; a failure says why. */
async function planOf(
  { id, plan_artifact_id: artifact }: Approval,
  { ask, may }: PageRequest,
): Promise<Plan | Failure | null> {
  if (artifact === null || !may('approval.plan')) return null;
  try {
    return await ask('approval.plan', 'approval.plan', { id });
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function isPlan(plan: Plan | Failure | null): plan is Plan {
  return plan !== null && !(plan instanceof Failure);
}

/** Tells the requests of one rule apart, and those of one workspace. */
function titleOf({ kind, workspace, summary, plan_artifact_id: artifact, provenance }: Approval): string {
  const rule = provenance.rule === undefined ? '' : ` (rule ${provenance.rule})`;
  if (artifact === null || workspace === null) return summary.slice(0, 1).toUpperCase() + summary.slice(1) + rule;
  return `${KINDS[kind].words.title(workspace, true)}${rule}: ${summary}`;
}

/** What a person must know first. */
function warning(approval: Approval, plan: Plan | Failure | null, { display }: PageRequest): Html {
  const { state, stale, changed, kind, workspace } = approval;
  if (state !== 'pending') return html``;
  if (changed !== undefined) return html`<p role="alert">It cannot be approved now. ${changed}</p>\n`;
  if (stale !== undefined)
    return html`<p role="alert">It can no longer be approved. ${movedBy(stale, display.nowMs)}</p>\n`;
  if (KINDS[kind].destroysAll)
    return html`<p role="alert">This destroys everything in ${workspace ?? 'it'}. \
What is destroyed does not come back.</p>\n`;
  if (!isPlan(plan) || plan.destroys.length === 0) return html``;
  const count = plan.destroys.length;
  return html`<p role="alert">This plan destroys ${count} ${count === 1 ? 'resource' : 'resources'}. \
What is destroyed does not come back. <a href="#plan">See the first</a></p>\n`;
}

function planSection(approval: Approval, plan: Plan | Failure | null, request: PageRequest): Html {
  const { plan_artifact_id: artifact } = approval;
  if (isPlan(plan)) return html`<h2 id="plan">Plan</h2>\n${planView(plan, request)}`;
  if (plan instanceof Failure) return html`<h2>Plan</h2>\n<p class="line">${plan.message}</p>\n`;
  if (artifact === null) return html``;
  return html`<h2>Plan</h2>\n<p class="line">Its values are shown to the scopes operator and approve only.</p>\n`;
}

function tab(title: string, to: string, isShown: boolean): Html {
  return html`<a href="${to}"${isShown ? html` aria-current="true"` : html``}>${title}</a>\n`;
}

/** In parts, or in the words of the command line, which are the same values: the URL says which. */
function planView(plan: Plan, request: PageRequest): Html {
  const { params, query, url } = request;
  const isText = query.get('plan') === 'console';
  const here = url(`/approvals/${params['id'] ?? ''}`);
  return html`<nav class="tabs" aria-label="Form of the plan">
${tab('Structured', `${here}#plan`, !isText)}${tab('Console', `${here}?plan=console#plan`, isText)}</nav>
${isText ? request.view('approval.plan', plan) : planHtml(plan)}`;
}

function facts(approval: Approval, { display, timeZone, url }: PageRequest): Html {
  const { nowMs } = display;
  const { provenance } = approval;
  const rows: (readonly [string, string | Html | null])[] = [
    ['Summary', approval.summary],
    ['Asked by', approval.requested_by],
    ['Because', approval.because ?? null],
    ['Came from', origin(provenance)],
    ['Why asked', approval.policy],
    ['Plan', approval.plan_artifact_id],
    ['Job', approval.job_id],
    ['Created', relative(approval.created_at, nowMs)],
    ['Expires', approval.state === 'pending' ? expiry(approval, nowMs, timeZone) : null],
    ['Decided', decided(approval, nowMs)],
    ['Reason', approval.reason],
    ['Undecidable', approval.missing_scopes === undefined ? null : noDecider(approval.missing_scopes)],
  ];
  const shown = rows.map(([name, value]) =>
    value === null
      ? html``
      : html`<div><dt>${name}</dt><dd>${typeof value === 'string' ? linked(value, { url }) : value}</dd></div>\n`,
  );
  return html`<dl>\n${shown}</dl>\n`;
}

function origin({ origin: from, alert, rule }: Approval['provenance']): string {
  const of = alert === undefined ? from : `alert ${alert}`;
  return rule === undefined ? of : `${of}, matched by rule ${rule}`;
}

function expiry({ expires_at: at }: Approval, nowMs: number, timeZone: string): Html {
  const end = Date.parse(at);
  const time = html`<time datetime="${at}">${timeHere(end, nowMs, timeZone)}</time>`;
  return html`${time}, ${timeLeft(end - nowMs)}; then the job is refused`;
}

function decided(approval: Approval, nowMs: number): string | null {
  const { state, decided_at: at, decided_by: who, decided_via: via } = approval;
  if (at === null) return null;
  if (state === 'expired') return `no one decided in time: the job was refused ${relative(at, nowMs)}`;
  return `${relative(at, nowMs)}${who === null ? '' : ` by ${who}`}${via === null ? '' : ` via ${via}`}`;
}

/** The two buttons, or why the visitor gets no button. */
function decision(approval: Approval, plan: Plan | Failure | null, request: PageRequest): Html {
  const { id, state, stale, kind, workspace, requested_by: asker } = approval;
  const { visitor, may, form } = request;
  if (state !== 'pending') return html``;
  if (asker === visitor.name || asker === visitor.owner)
    return html`<p class="line">You asked for this job, so another person must decide. \
${stale === undefined ? html`` : planAgain(approval, request)}</p>\n`;
  if (!may('approval.decision'))
    return html`<p class="line">To decide, sign in with the scope approve or operator; yours is \
${visitor.scope}.</p>\n`;
  // A program with a bearer token decides over the API.
  if (visitor.csrf === null) return html``;
  const reject = { label: 'Reject', sends: ['decision', 'reject'] } as const;
  const ask = { path: `/approvals/${id}/decision`, operation: 'approval.decision', fields: REASON };
  if (stale !== undefined || plan instanceof Failure) {
    const why = stale === undefined ? 'Its plan cannot be shown, so it cannot be approved here.' : '';
    return html`<div class="decide"><p>${why} ${planAgain(approval, request)}</p>
${form({ ...ask, ...reject })}</div>\n`;
  }
  const destroys = isPlan(plan) ? plan.destroys.length : 0;
  const buttons = form({
    ...ask,
    label: KINDS[kind].destroysAll
      ? `Approve, destroying everything in ${workspace ?? 'it'}`
      : destroys === 0
        ? 'Approve'
        : `Approve, destroying ${destroys}`,
    look: destroys > 0 || KINDS[kind].destroysAll ? 'danger' : 'yes',
    sends: ['decision', 'approve'],
    others: [reject],
  });
  return html`<div class="decide">\n${buttons}</div>\n`;
}

const REASON = html`<label>Reason (optional)<textarea name="reason" rows="1" maxlength="1000"></textarea></label>`;

function planAgain({ workspace, requested_by: asker }: Approval, { url, may }: PageRequest): Html {
  if (workspace === null) return html``;
  if (!may('workspace.plan')) return html`Ask ${asker} or an operator to plan again.`;
  return html`<a href="${url(`/workspaces/${encodeURIComponent(workspace)}`)}">Plan again</a>`;
}

export const APPROVALS: AreaPages = {
  pages: [LIST, APPROVAL],
  actions: [
    {
      path: '/approvals/:id/decision',
      operation: 'approval.decision',
      fields: ['decision', 'reason'],
      page: '/approvals/:id',
      goesTo: (params, data) =>
        data['decision'] === 'approve' ? toJob(params, data) : `/approvals/${params['id'] ?? ''}`,
    },
  ],
};
