/** What one can do from a page: each posts to a path of its row, which calls the operation as the visitor. */
import type { ViewName } from '../../../views/views.ts';

type Data = Readonly<Record<string, unknown>>;

export interface Action {
  /** Below the base path, with the parameters of its page. */
  readonly path: `/${string}`;
  readonly operation: string;
  /** Fields of the form that the operation gets, beside the parameters of the path. */
  readonly fields: readonly string[];
  /** The path of the page that it belongs to, which shows a refusal, and the answer without `goesTo`. */
  readonly page: `/${string}`;
  /** The path that the browser opens after it. */
  readonly goesTo?: (params: Readonly<Record<string, string>>, data: Data, kind: ViewName) => string;
  /** Whether the name in the path must be typed in the field `confirm`, for these fields of the form. */
  readonly confirms?: (fields: Data) => boolean;
}

const toJob = (_params: unknown, { job_id: id }: Data): string => `/jobs/${String(id)}`;
const toApprovalOrJob = (params: unknown, data: Data, kind: ViewName): string =>
  kind === 'approval.pending' ? `/approvals/${String(data['approval_id'])}` : toJob(params, data);
const toMaintenance = (): string => '/maintenance';

export const ACTIONS: readonly Action[] = [
  {
    path: '/approvals/:id/decision',
    operation: 'approval.decision',
    fields: ['decision', 'reason'],
    page: '/approvals/:id',
    goesTo: (params, data) =>
      data['decision'] === 'approve' ? toJob(params, data) : `/approvals/${params['id'] ?? ''}`,
  },
  {
    path: '/jobs/:id/cancel',
    operation: 'job.cancel',
    fields: [],
    page: '/jobs/:id',
    goesTo: ({ id }) => `/jobs/${id ?? ''}`,
  },
  { path: '/jobs/:id/rerun', operation: 'job.rerun', fields: [], page: '/jobs/:id', goesTo: toApprovalOrJob },
  { path: '/workspaces/:name/plan', operation: 'workspace.plan', fields: [], page: '/workspaces/:name', goesTo: toJob },
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
  { path: '/checks/:name/probe', operation: 'check.probe', fields: [], page: '/checks/:name' },
  {
    path: '/maintenance/cordon',
    operation: 'maintenance.cordon',
    fields: [],
    page: '/maintenance',
    goesTo: toMaintenance,
  },
  {
    path: '/maintenance/uncordon',
    operation: 'maintenance.uncordon',
    fields: [],
    page: '/maintenance',
    goesTo: toMaintenance,
  },
  {
    path: '/maintenance/nodes/:node/restart',
    operation: 'maintenance.restart',
    fields: [],
    page: '/maintenance',
    goesTo: toMaintenance,
    confirms: () => true,
  },
];
