import type { Operation } from './operation.ts';

export const SECRET_OPERATIONS: readonly Operation[] = [];
