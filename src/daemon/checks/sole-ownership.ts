import { join } from 'node:path';
import { SHARDS } from '../../domain/checks/sweep/slots.ts';
import type { Clock } from '../../lib/clock.ts';
import { holdLock, type InstanceLock, isLockHeld } from '../../store/engine/instance-lock.ts';
import type { Ownership } from './ownership.ts';

const ALL: ReadonlySet<number> = new Set(Array.from({ length: SHARDS }, (_, shard) => shard));
const NOTHING: ReadonlySet<number> = new Set();

/** Where all daemons share one machine, the one that holds a lock probes all targets; its death frees the lock. */
export function soleOwnership(clock: Clock, instancesDir: string): Ownership {
  const file = join(instancesDir, 'checks.lock');
  // Slots follow the monotonic clock from now on: a wall clock that jumps moves none.
  const ahead = clock.now() - clock.monotonic();
  let lock: InstanceLock | null = null;
  return {
    async renew() {
      if (lock !== null || isLockHeld(file)) return;
      try {
        lock = holdLock(file);
      } catch {
        // Another daemon was faster.
      }
    },
    shards: () => (lock === null ? NOTHING : ALL),
    ahead: () => ahead,
    now: () => clock.now(),
    async release() {
      lock?.release();
      lock = null;
    },
  };
}
