import type { Operation } from './operation.ts';

export const NOTIFY_OPERATIONS: readonly Operation[] = [];
