import type { Operation } from './operation.ts';

export const EVENT_OPERATIONS: readonly Operation[] = [];
