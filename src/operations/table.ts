import { APPROVAL_LINK_OPERATIONS } from './approval-links.ts';
import { APPROVAL_OPERATIONS } from './approvals.ts';
import { COMMAND_OPERATIONS } from './commands.ts';
import { JOB_OPERATIONS } from './jobs.ts';
import { MAINTENANCE_OPERATIONS } from './maintenance.ts';
import { openapiOperation } from './openapi.ts';
import type { Operation } from './operation.ts';
import { SEAL_OPERATIONS } from './seal.ts';
import { SECRET_OPERATIONS } from './secrets.ts';
import { SERVICE_OPERATIONS } from './service.ts';
import { SOURCE_OPERATIONS } from './sources.ts';
import { TOKEN_OPERATIONS } from './tokens.ts';
import { WORKSPACE_RUN_OPERATIONS } from './workspace-runs.ts';
import { WORKSPACE_OPERATIONS } from './workspaces.ts';

/**
 * Each thing that the service can be asked, one row each. Routes, command-line verbs, the OpenAPI document, help
 * and the authorisation matrix derive from it; nobody writes any of them by hand.
 */
export const OPERATIONS: readonly Operation[] = [
  ...SERVICE_OPERATIONS,
  openapiOperation(() => OPERATIONS),
  ...JOB_OPERATIONS,
  ...APPROVAL_OPERATIONS,
  ...APPROVAL_LINK_OPERATIONS,
  ...WORKSPACE_OPERATIONS,
  ...WORKSPACE_RUN_OPERATIONS,
  ...SOURCE_OPERATIONS,
  ...COMMAND_OPERATIONS,
  ...SECRET_OPERATIONS,
  ...SEAL_OPERATIONS,
  ...MAINTENANCE_OPERATIONS,
  ...TOKEN_OPERATIONS,
];
