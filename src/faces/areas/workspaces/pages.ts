import { toApprovalOrJob, toJob } from '../../console/action.ts';
import type { AreaPages } from '../../console/area-pages.ts';
import type { Projected } from '../../../views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { table } from '../../text/blocks.ts';
import { relative } from '../../text/time.ts';
import { DRIFT_PAINT, NO_STATES } from './text.ts';
import { blocksHtml } from '../../console/blocks.ts';
import { mark } from '../../console/marks.ts';
import { type Page, type PageRequest, typed } from '../../console/page.ts';
import { plainPage } from '../../console/plain.ts';

type Workspace = Projected<'workspace.get'>;

const LIST = plainPage({
  path: '/workspaces',
  section: 'Workspaces',
  title: 'Workspaces',
  parts: [{ operation: 'workspace.list', kind: 'workspace.list', named: { NAME: '/workspaces/' } }],
});

const WORKSPACE: Page = {
  path: '/workspaces/:name',
  section: 'Workspaces',
  title: 'Workspace',
  reads: ['workspace.get', 'workspace.state', 'workspace.plans'],
  async show(request) {
    const { ask, params } = request;
    const [workspace, states, plans] = await Promise.all([
      ask('workspace.get', 'workspace.get', params),
      ask('workspace.state', 'workspace.state', params),
      ask('workspace.plans', 'workspace.plans', params),
    ]);
    const facts = request.view('workspace.get', workspace);
    const content = html`${actions(workspace, request)}${facts}
<h2>Saved plans</h2>
${request.view('workspace.plans', plans)}
<h2>Serials of the state</h2>
${ladder(workspace, states, plans, request)}`;
    const drift = mark(`drift ${workspace.drift}`, DRIFT_PAINT[workspace.drift]);
    return { title: `Workspace ${workspace.name}`, state: drift, content };
  },
};

/** Each serial with what made it and the plans that were made from it, the newest first. */
function ladder(
  { serial }: Workspace,
  states: Projected<'workspace.state'>,
  plans: Projected<'workspace.plans'>,
  request: PageRequest,
): Html {
  const serials = [...new Set([...states.map((state) => state.serial), ...plans.map((plan) => plan.serial)])];
  const rungs = serials
    .toSorted((a, b) => b - a)
    .map((at) => ({ at, state: states.find((each) => each.serial === at) }));
  const rows = table(rungs, NO_STATES, [
    { title: 'SERIAL', cell: ({ at }) => (at === serial ? `${at} (now)` : String(at)) },
    { title: 'VERSION', cell: ({ state }) => versionOf(state) },
    { title: 'RESOURCES', cell: ({ state }) => (state === undefined ? '-' : String(state.resources)) },
    { title: 'MADE BY', cell: ({ state }) => state?.job_id ?? '-' },
    { title: 'MADE', cell: ({ state }) => relative(state?.created_at ?? null, request.display.nowMs) },
    { title: 'PLANS FROM IT', cell: ({ at }) => plansFrom(at, plans) },
  ]);
  return blocksHtml(rows, request);
}

function versionOf(state: Projected<'workspace.state'>[number] | undefined): string {
  if (state === undefined) return 'not kept';
  return state.version < 0 ? `${state.version} (set aside)` : String(state.version);
}

function plansFrom(serial: number, plans: Projected<'workspace.plans'>): string {
  const uses = plans.filter((plan) => plan.serial === serial).map(({ use }) => use);
  const counts = (['open', 'used', 'stale'] as const).map((use) => [uses.filter((each) => each === use).length, use]);
  const shown = counts.filter(([count]) => count !== 0).map(([count, use]) => `${count} ${use}`);
  return shown.join(', ') || '-';
}

function actions({ name, policy }: Workspace, { form }: PageRequest): Html {
  const path = `/workspaces/${encodeURIComponent(name)}`;
  const plan = form({ path: `${path}/plan`, operation: 'workspace.plan', label: 'Plan', look: 'yes' });
  const drift = form({ path: `${path}/drift`, operation: 'workspace.drift', label: 'Check for drift' });
  const saved = form({
    path: `${path}/apply`,
    operation: 'workspace.apply',
    label: 'Apply a saved plan',
    fields: html`<label>Saved plan<input name="plan" placeholder="art_…" required></label> `,
  });
  const fresh = policy.require_saved_plan
    ? html``
    : form({
        path: `${path}/apply`,
        operation: 'workspace.apply',
        label: 'Plan and apply without review',
        fields: typed(`Type ${name} to apply without a review`),
      });
  const destroy = policy.protect_destroy
    ? html``
    : form({
        path: `${path}/destroy`,
        operation: 'workspace.destroy',
        label: 'Destroy everything in it',
        look: 'danger',
        fields: typed(`Type ${name} to destroy everything in it`),
      });
  const forms = html`${fresh}${destroy}`;
  if (forms.text === '') return html`<div class="acts">${plan}${drift}${saved}</div>\n`;
  return html`<div class="acts">${plan}${drift}${saved}</div>
<details><summary>Without a review by a second person</summary>
<div class="acts">${forms}</div>
</details>\n`;
}

export const WORKSPACES: AreaPages = {
  pages: [LIST, WORKSPACE],
  actions: [
    {
      path: '/workspaces/:name/plan',
      operation: 'workspace.plan',
      fields: [],
      page: '/workspaces/:name',
      goesTo: toJob,
    },
    {
      path: '/workspaces/:name/drift',
      operation: 'workspace.drift',
      fields: [],
      page: '/workspaces/:name',
      goesTo: toJob,
    },
    {
      path: '/workspaces/:name/apply',
      operation: 'workspace.apply',
      fields: ['plan'],
      page: '/workspaces/:name',
      goesTo: toApprovalOrJob,
      confirms: ({ plan }) => plan === undefined,
    },
    {
      path: '/workspaces/:name/destroy',
      operation: 'workspace.destroy',
      fields: [],
      page: '/workspaces/:name',
      goesTo: toJob,
      confirms: () => true,
    },
  ],
};
