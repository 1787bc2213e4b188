import { loadAll } from './areas.ts';
import type { Operation } from './core/operation.ts';

/**
 * The operations of the service, one row each. Routes, command-line verbs, the OpenAPI document, help and the
 * authorisation matrix are derived from it; none of them is written by hand.
 */
export const OPERATIONS: readonly Operation[] = await loadAll();
