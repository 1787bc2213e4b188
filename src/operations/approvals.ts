import type { Operation } from './operation.ts';

export const APPROVAL_OPERATIONS: readonly Operation[] = [];
