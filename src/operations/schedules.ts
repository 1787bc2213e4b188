import type { Operation } from './operation.ts';

export const SCHEDULE_OPERATIONS: readonly Operation[] = [];
