import type { Operation } from './operation.ts';

export const WEBHOOK_OPERATIONS: readonly Operation[] = [];
