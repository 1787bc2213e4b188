import type { Operation } from './operation.ts';

export const SEAL_OPERATIONS: readonly Operation[] = [];
