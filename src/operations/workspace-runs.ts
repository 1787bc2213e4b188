import type { Operation } from './operation.ts';

export const WORKSPACE_RUN_OPERATIONS: readonly Operation[] = [];
