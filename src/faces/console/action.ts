/** What one can do from a page: each posts to a path of its row, which calls the operation as the visitor. */
import type { ViewName } from '../../views/views.ts';

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

/** After an operation that queues a job. */
export function toJob(_params: unknown, { job_id: id }: Data): string {
  return `/jobs/${String(id)}`;
}

/** After an operation whose job may wait for an approval. */
export function toApprovalOrJob(params: unknown, data: Data, kind: ViewName): string {
  return kind === 'approval.pending' ? `/approvals/${String(data['approval_id'])}` : toJob(params, data);
}
