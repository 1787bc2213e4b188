import type { SystemCalls } from './system-call.ts';

const PR_CAPBSET_READ = 23;
/** The size of the kernel's bit sets; it returns EINVAL for the first unknown capability. */
const CAPABILITIES_AT_MOST = 64;

/** The capabilities of the bounding set of this process. */
export function boundingSet(system: SystemCalls): number[] {
  const all = Array.from({ length: CAPABILITIES_AT_MOST }, (_, capability) => capability);
  return all.filter((capability) => system.call(system.numbers.made.prctl, PR_CAPBSET_READ, capability) === 1);
}
