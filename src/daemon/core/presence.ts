import type { Clock } from '../../lib/clock.ts';
import { isDaemonLocked } from '../../store/engine/instance-lock.ts';
import { whileUnchanged } from '../../store/engine/read-cache.ts';
import { listOthers, listRecent, markStopped } from '../../store/maintenance/daemons.ts';
import { expireLeases } from '../../store/maintenance/leases.ts';
import type { DaemonRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import { lockSeenAt, removeLock, touchLock } from './lock-file.ts';
import type { MakeLoop, WakeUp } from './loop.ts';

interface PresenceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly instancesDir: string;
  /** The id of this daemon. */
  readonly self: () => string;
}

/** The interval at which a daemon notes that it lives, and looks whether the others do, in milliseconds. */
const PRESENCE_EVERY_MS = 2_000;

/** Which daemons of the store live: each notes it for the others, who record its death. */
export class Presence {
  readonly #options: PresenceOptions;
  readonly #others: (self: string) => Promise<DaemonRow[]>;

  constructor(options: PresenceOptions) {
    const { store } = options;
    this.#options = options;
    this.#others = whileUnchanged(store, 'daemons', (self) => listOthers(store.db, self));
  }

  /** Notes that this daemon lives, and records which others have died. True where one has. */
  async look(): Promise<boolean> {
    const { store, clock, instancesDir, self } = this.#options;
    const others = await this.#others(self());
    if (store.dialect.liveness === 'lease')
      return others.length > 0 && (await store.write((tx) => expireLeases(tx, self())));
    touchLock(instancesDir, self(), clock.now());
    const dead = others.filter(({ id }) => !isDaemonLocked(instancesDir, id));
    for (const { id } of dead) {
      const seenAt = lockSeenAt(instancesDir, id, clock.now()) ?? clock.now();
      await store.write((tx) => markStopped(tx, id, seenAt));
      removeLock(instancesDir, id);
    }
    return dead.length > 0;
  }
}

/** Daemons that are looked at: those that started last. */
const RECENT_DAEMONS = 100;

/**
 * When another daemon was last seen, in milliseconds since the epoch; null if none was. Times in the future are of a
 * clock that was set back since, and say nothing.
 */
export async function othersSeenAt({ store, clock, instancesDir, self }: PresenceOptions): Promise<number | null> {
  const now = clock.now();
  const seen = (await listRecent(store.db, self(), RECENT_DAEMONS)).map(
    (row) => row.stopped_at ?? row.lease_until ?? lockSeenAt(instancesDir, row.id, now) ?? row.started_at,
  );
  const known = seen.filter((at) => at <= now);
  return known.length === 0 ? null : Math.max(...known);
}

interface PresenceDeps {
  readonly presence: Presence;
  readonly wakeUp: (why: WakeUp) => void;
}

export const presenceLoop: MakeLoop<PresenceDeps> = ({ presence, wakeUp }) => ({
  name: 'presence',
  everyMs: PRESENCE_EVERY_MS,
  wakeOn: [],
  async once() {
    if (await presence.look()) wakeUp('daemon-died');
  },
});
