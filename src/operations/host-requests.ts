import type { Operation } from './operation.ts';

export const HOST_REQUEST_OPERATIONS: readonly Operation[] = [];
