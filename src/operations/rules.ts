import type { Operation } from './operation.ts';

export const RULE_OPERATIONS: readonly Operation[] = [];
