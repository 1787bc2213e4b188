import type { Operation } from './operation.ts';

export const SOURCE_OPERATIONS: readonly Operation[] = [];
