import type { AreaPages } from '../../console/area-pages.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../views/views.ts';
import type { Paint } from '../../text/display.ts';
import { html, type Html } from '../../html/html.ts';
import { actionText } from '../../text/actions.ts';
import { JOB_PAINTS } from '../jobs/text.ts';
import { graphHtml } from './graph.ts';
import { mark } from '../../console/marks.ts';
import type { Page, PageRequest } from '../../console/page.ts';
import { plainPage } from '../../console/plain.ts';

type Steps = Projected<'workflow.get'>['steps'];
type Run = Projected<'workflow.status'>;

const LIST = plainPage({
  path: '/workflows',
  section: 'Workspaces',
  title: 'Workflows',
  parts: [{ operation: 'workflow.list', kind: 'workflow.list', named: { NAME: '/workflows/' } }],
});

const WORKFLOW: Page = {
  path: '/workflows/:name',
  section: 'Workspaces',
  title: 'Workflow',
  reads: ['workflow.get'],
  async show(request) {
    const workflow = await request.ask('workflow.get', 'workflow.get', request.params);
    const graph = graphHtml(workflow.steps.map((step) => ({ ...step, note: actionText(step) })));
    const path = `/workflows/${encodeURIComponent(workflow.name)}/run`;
    const run = request.form({ path, operation: 'workflow.run', label: 'Run it' });
    const content = html`<div class="acts">${run}</div>\n${graph}${request.view('workflow.get', workflow)}`;
    return { title: `Workflow ${workflow.name}`, content };
  },
};

const RUN: Page = {
  path: '/runs/:run',
  section: 'Workspaces',
  title: 'Run of a workflow',
  partOf: '/workflows',
  reads: ['workflow.status', 'workflow.get'],
  async show(request) {
    const run = await request.ask('workflow.status', 'workflow.status', request.params);
    const content = html`${cancellation(run, request)}${await ofWorkflow(run, request)}\
${request.view('workflow.status', run)}`;
    return { title: `Run of ${run.workflow}`, state: mark(run.state, paintOf(run.state)), content };
  },
};

function cancellation({ run_id: id, state }: Run, { form }: PageRequest): Html {
  if (state !== 'running') return html``;
  const cancel = form({
    path: `/runs/${id}/cancel`,
    operation: 'workflow.cancel',
    label: 'Cancel the run and its jobs',
  });
  return html`<div class="acts">${cancel}</div>\n`;
}

/** Its steps as a graph, and the way to it. A run remains where its workflow was removed. */
async function ofWorkflow(run: Run, request: PageRequest): Promise<Html> {
  const name = run.workflow;
  try {
    const { steps } = await request.ask('workflow.get', 'workflow.get', { name });
    const path = request.url(`/workflows/${encodeURIComponent(name)}`);
    return html`${runGraph(run, steps, request)}<p><a href="${path}">Workflow ${name}</a></p>\n`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return html`<p class="soft">The workflow was removed: there is no graph of this run.</p>\n`;
  }
}

/** A run keeps the steps that it began with, and the workflow may have been replaced since. */
function runGraph(run: Run, steps: Steps, { url }: PageRequest): Html {
  const needs = new Map(steps.map((step) => [step.name, step.needs]));
  if (run.steps.length !== steps.length || run.steps.some(({ name }) => !needs.has(name)))
    return html`<p class="soft">The workflow has other steps now: there is no graph of this run.</p>\n`;
  const shown = run.steps.map(({ name, state, job_id: job }) => ({
    name,
    needs: needs.get(name) ?? [],
    note: state,
    paint: paintOf(state),
    href: job === null ? undefined : url(`/jobs/${job}`),
  }));
  return graphHtml(shown);
}

function paintOf(state: string): Paint {
  const paints: Readonly<Record<string, Paint>> = JOB_PAINTS;
  return paints[state] ?? 'dim';
}

export const WORKFLOWS: AreaPages = {
  pages: [LIST, WORKFLOW, RUN],
  actions: [
    {
      path: '/workflows/:name/run',
      operation: 'workflow.run',
      fields: [],
      page: '/workflows/:name',
      goesTo: (_params, { run_id: id }) => `/runs/${String(id)}`,
    },
    {
      path: '/runs/:run/cancel',
      operation: 'workflow.cancel',
      fields: [],
      page: '/runs/:run',
      goesTo: ({ run = '' }) => `/runs/${run}`,
    },
  ],
};
