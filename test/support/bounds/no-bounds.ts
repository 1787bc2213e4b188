import type { Bounds } from '../../../src/runners/bounds/bounds.ts';

/** Bounds nothing. */
export const NO_BOUNDS: Bounds = {
  detail: 'none',
  open: () => ({ order: {}, members: null, watch: () => undefined, end: () => Promise.resolve([]) }),
  leftovers: () => [],
  remove: () => Promise.resolve(),
};
