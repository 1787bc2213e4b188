import type { Operation } from './operation.ts';

export const DEADMAN_OPERATIONS: readonly Operation[] = [];
