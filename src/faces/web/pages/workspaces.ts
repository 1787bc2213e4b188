import type { Projected } from '../../../operations/views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { textOf } from '../../text/render.ts';
import { blocksHtml } from '../console/blocks.ts';
import type { Page, PageRequest } from './page.ts';
import { plainPage } from './plain.ts';

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
  reads: ['workspace.get', 'workspace.state'],
  async show(request) {
    const { ask, params, display } = request;
    const [workspace, states] = await Promise.all([
      ask('workspace.get', 'workspace.get', params),
      ask('workspace.state', 'workspace.state', params),
    ]);
    const facts = blocksHtml(textOf('workspace.get', workspace, display), request);
    const content = html`${actions(workspace, request)}${facts}
<h2>Versions of the state</h2>
${blocksHtml(textOf('workspace.state', states, display), request)}`;
    return { title: `Workspace ${workspace.name}`, content };
  },
};

/** The field that shows that somebody means this workspace. */
function typed(label: string): Html {
  return html`<label>${label}<input name="confirm" required autocomplete="off"></label> `;
}

function actions({ name, policy }: Workspace, { form }: PageRequest): Html {
  const path = `/workspaces/${encodeURIComponent(name)}`;
  const plan = form({ path: `${path}/plan`, operation: 'workspace.plan', label: 'Plan', look: 'yes' });
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
  if (forms.text === '') return html`<div class="acts">${plan}${saved}</div>\n`;
  return html`<div class="acts">${plan}${saved}</div>
<details><summary>Without a review by a second person</summary>
<div class="acts">${forms}</div>
</details>\n`;
}

export const WORKSPACE_PAGES = [LIST, WORKSPACE];
