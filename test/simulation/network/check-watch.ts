import type { Place } from '../place.ts';
import type { Probed } from './targets.ts';

/** As many observations must agree before a target changes. */
const AGREEING = 3;

/** What is known of a target of a check. */
interface Known {
  status: unknown;
  /** Of its last event. */
  event: unknown;
  /** The probes that were looked at for its last event. */
  probes: number;
}

/** What must hold of checks after each commit. */
export class CheckWatch {
  readonly #place: Place;
  readonly #known = new Map<string, Known>();
  readonly #seen = new Set<unknown>();

  constructor(place: Place) {
    this.#place = place;
  }

  committed(): void {
    const changed = this.#lookAtEvents();
    for (const { name, status, snoozed_until: snoozed } of this.#place.store.rows(
      "select name, status, snoozed_until from check_targets where check_name = 'ports'",
    )) {
      const known = this.#knownOf(String(name));
      const isNew = known.status !== status && known.status !== 'unknown';
      known.status = status;
      // During a snooze it changes without an event, which comes afterwards.
      if (isNew && snoozed === null && !changed.has(String(name)))
        this.#place.watch.violated('B3', `${String(name)} became ${String(status)} without an event`);
    }
  }

  #lookAtEvents(): ReadonlySet<string> {
    const { store, watch } = this.#place;
    const changed = new Set<string>();
    for (const { id, name, status, spec } of store.rows(
      `select events.id as id, check_targets.name as name, events.status as status, check_targets.spec as spec
       from events join check_targets on events.fingerprint = 'check:ports/' || check_targets.name
       where events.source = 'check' order by events.id`,
    )) {
      if (this.#seen.has(id)) continue;
      this.#seen.add(id);
      const target = String(name);
      changed.add(target);
      const known = this.#knownOf(target);
      if (known.event === status) watch.violated('B1', `${target} is ${String(status)} twice`);
      const probes = this.#place.targets.probesOf(String(spec));
      if (!this.#agreed(probes.slice(known.probes), status === 'resolved'))
        watch.violated('B2', `${target} is ${String(status)} without ${AGREEING} probes that say so`);
      known.event = status;
      known.probes = probes.length;
    }
    return changed;
  }

  #knownOf(target: string): Known {
    const known = this.#known.get(target) ?? { status: 'unknown', event: null, probes: 0 };
    this.#known.set(target, known);
    return known;
  }

  /** Whether as many in a row saw the same. What a daemon saw that has died since may be lost. */
  #agreed(probes: readonly Probed[], up: boolean): boolean {
    let inRow = 0;
    for (const each of probes) {
      if (each.up === up) inRow += 1;
      else if (each.by !== null && this.#place.world.lives(each.by)) inRow = 0;
      if (inRow === AGREEING) return true;
    }
    return false;
  }
}
