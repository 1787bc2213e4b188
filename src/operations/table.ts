import { COMMAND_OPERATIONS } from './commands.ts';
import { JOB_OPERATIONS } from './jobs.ts';
import { MAINTENANCE_OPERATIONS } from './maintenance.ts';
import { openapiOperation } from './openapi.ts';
import type { Operation } from './operation.ts';
import { SERVICE_OPERATIONS } from './service.ts';
import { TOKEN_OPERATIONS } from './tokens.ts';

/**
 * Each thing that the service can be asked, one row each. Routes, command-line verbs, the OpenAPI document, help
 * and the authorisation matrix derive from it; nobody writes any of them by hand.
 */
export const OPERATIONS: readonly Operation[] = [
  ...SERVICE_OPERATIONS,
  openapiOperation(() => OPERATIONS),
  ...JOB_OPERATIONS,
  ...COMMAND_OPERATIONS,
  ...MAINTENANCE_OPERATIONS,
  ...TOKEN_OPERATIONS,
];
