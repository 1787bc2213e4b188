import type { Operation } from './operation.ts';

export const APPROVAL_LINK_OPERATIONS: readonly Operation[] = [];
