import { totalmem } from 'node:os';
import type { Clock } from '../../lib/clock.ts';
import { openMachine } from '../launch/machine.ts';
import type { Bounds, JobLimits } from './bounds.ts';
import { CgroupBounds } from './cgroup.ts';
import { NoDelegatedGroup, takeDelegatedGroup } from './delegated-group.ts';
import { SampledBounds } from './sampled.ts';

/** The memory of one job, unless it is set: the daemon, the system and a second job have as much. */
const MEMORY_SHARE = 0.5;

interface BoundsSettings {
  /** In bytes; null for the default. */
  readonly jobMemory: number | null;
  readonly jobProcesses: number;
  readonly maxJobs: number;
}

/** Uses control groups if one is delegated to this process, which then moves into a separate group. */
export function openBounds({ jobMemory, jobProcesses, maxJobs }: BoundsSettings, clock: Clock): Bounds {
  const limits: JobLimits = {
    memoryBytes: jobMemory ?? Math.floor(ownMemory() * MEMORY_SHARE),
    processes: jobProcesses,
  };
  try {
    return new CgroupBounds(takeDelegatedGroup(), limits, clock);
  } catch (error) {
    if (!(error instanceof NoDelegatedGroup)) throw error;
    return new SampledBounds({ limits, jobs: maxJobs, clock, because: error.message, adopted });
  }
}

/** Of the machine, or of the container. */
function ownMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

function adopted(): readonly number[] | null {
  try {
    return openMachine().children.adopted();
  } catch {
    return null;
  }
}
