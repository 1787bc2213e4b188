import type { Projected } from '../../../views/views.ts';
import { relative } from '../../text/time.ts';
import type { Display } from '../../text/display.ts';
import { marked } from '../../text/marks.ts';
import { sheet, table, type Table, type Text } from '../../text/blocks.ts';
import { actionText } from '../../text/actions.ts';

type Step = Projected<'workflow.get'>['steps'][number];

function workflows(data: Projected<'workflow.list'>, display: Display): Table {
  return table(data, 'No workflows. Add one with: svc workflow add NAME --file workflow.yaml', [
    { title: 'NAME', cell: (each) => each.name },
    { title: 'STEPS', cell: (each) => String(each.steps), mayDrop: true },
    { title: 'LAST RUN', cell: (each) => each.last_run_id ?? '-', mayDrop: true },
    { title: 'STATE', cell: (each) => each.last_state ?? '-' },
    { title: 'STARTED', cell: (each) => relative(each.last_started_at, display.nowMs) },
  ]);
}

function approvalOf({ approval, approval_ttl: ttl }: Step): string {
  return ttl === null ? approval : `${approval}, for ${ttl}`;
}

function workflow(data: Projected<'workflow.get'>, display: Display): Text {
  const head = sheet([
    ['Workflow', data.name],
    ['Added by', data.added_by],
    ['Changed', relative(data.updated_at, display.nowMs)],
    ['Last run', data.last_run_id === null ? 'none' : `${data.last_run_id} (${data.last_state ?? ''})`],
  ]);
  const steps = table(data.steps, 'No steps.', [
    { title: 'STEP', cell: (each) => each.name },
    { title: 'NEEDS', cell: (each) => each.needs.join(', ') || '-', mayCut: true },
    { title: 'DOES', cell: actionText, mayCut: true },
    { title: 'APPROVAL', cell: approvalOf },
    { title: 'WHEN', cell: (each) => each.when?.trim() ?? '-', mayCut: true },
  ]);
  return [head, '\n', steps];
}

function workflowRun(data: Projected<'workflow.status'>, display: Display): Text {
  const head = sheet([
    ['Run', data.run_id],
    ['Workflow', data.workflow],
    ['State', marked(display, data.state)],
  ]);
  const steps = table(data.steps, 'No steps.', [
    { title: 'STEP', cell: (each) => each.name },
    { title: 'STATE', cell: (each) => marked(display, each.state) },
    { title: 'JOB', cell: (each) => each.job_id ?? '-', mayDrop: true },
    { title: 'REASON', cell: (each) => each.reason ?? '-', mayCut: true },
  ]);
  return [head, '\n', steps];
}

export const WORKFLOWS_TEXTS = { 'workflow.list': workflows, 'workflow.get': workflow, 'workflow.status': workflowRun };
