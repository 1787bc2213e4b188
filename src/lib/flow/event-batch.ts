import { performance } from 'node:perf_hooks';

const { nodeTiming } = performance;

/**
 * The number of the batch of events that the event loop is working on: it grows with each call of the system for
 * events. Callbacks of timers and of `setImmediate` belong to the batch before them. It takes 15 ns; a turn of
 * `setImmediate` would not do, as one that a timer begins lasts over the next batch.
 */
export function eventBatch(): number {
  // The loop is counted before each wait for events, the events after each batch: one wait may give several.
  const { loopCount, events } = nodeTiming.uvMetricsInfo;
  return loopCount + events;
}
