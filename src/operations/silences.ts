import type { Operation } from './operation.ts';

export const SILENCE_OPERATIONS: readonly Operation[] = [];
