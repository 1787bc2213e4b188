import type { Operation } from './operation.ts';

export const MUTE_OPERATIONS: readonly Operation[] = [];
