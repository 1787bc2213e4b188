import type { Operation } from './operation.ts';

export const WORKSPACE_OPERATIONS: readonly Operation[] = [];
