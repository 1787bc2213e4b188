import type { Place } from '../place.ts';
import type { Host } from '../world/host.ts';

/** As the rule says. */
const COOLDOWN_MS = 15_000;
/** As the dead-man watch has it. */
const EVERY_MS = 10_000;
/** When a webhook was heard is noted at most this often. */
const NOTED_MS = 1_000;
/** After its start a daemon has looked at the clock. */
const STARTED_MS = 5_000;
/** A time is written some steps before its commit. */
const LATE_MS = 500;

/** What must hold of alerts after each commit. */
export class AlertWatch {
  readonly #place: Place;
  /** When the rule acted last, by what it was about. */
  readonly #firedAt = new Map<unknown, number>();
  /** The events that were looked at. */
  readonly #seen = new Set<unknown>();
  /** Of the clock of the store, and since when: a cooldown is time of that. */
  #aheadMs = 0;
  #jumpedAt = Number.NEGATIVE_INFINITY;
  #heard: unknown = null;
  #heardAt = Number.NEGATIVE_INFINITY;
  #tripped: unknown = null;
  /** When the life of a daemon made its first commit. */
  readonly #lives = new Map<Host, { readonly life: number; readonly at: number }>();

  constructor(place: Place) {
    this.#place = place;
  }

  committed(by: Host): void {
    const { world, store } = this.#place;
    if (this.#lives.get(by)?.life !== by.life) this.#lives.set(by, { life: by.life, at: world.now });
    const { aheadMs } = store.machine;
    if (aheadMs !== this.#aheadMs) [this.#aheadMs, this.#jumpedAt] = [aheadMs, world.now];
    this.#lookAtOpen();
    this.#lookAtCooldown();
    this.#lookAtSilence(by);
  }

  /** A clock that is set ahead is no silence for a daemon that saw it. */
  #lookAtSilence(by: Host): void {
    const { world, store, watch } = this.#place;
    const [row] = store.rows(`select tripped_at, last_heard_at from deadmen
      join webhooks on webhooks.name = deadmen.webhook where deadmen.name = 'quiet'`);
    const { last_heard_at: heard = null, tripped_at: tripped = null } = row ?? {};
    // One commit may hold both, the silence first.
    const heardAt = this.#heardAt;
    if (heard !== this.#heard) [this.#heard, this.#heardAt] = [heard, world.now];
    // The time of one that is there is corrected after the clock was set back.
    const isNew = tripped !== null && this.#tripped === null;
    this.#tripped = tripped;
    const afterMs = world.now - heardAt;
    if (!isNew || afterMs >= EVERY_MS - NOTED_MS - LATE_MS) return;
    const sawIt = (this.#lives.get(by)?.at ?? world.now) < this.#jumpedAt - STARTED_MS;
    if (this.#isSteadySince(heardAt, sawIt))
      watch.violated('H6', `${by.name} reported a silence ${afterMs} ms after an alert`);
  }

  /** Whether nothing disturbed the time since then; `sawJump`: a jump of the clock does not count. */
  #isSteadySince(at: number, sawJump: boolean): boolean {
    const { world } = this.#place;
    return (sawJump || this.#jumpedAt < at) && world.hosts.every(({ stoppedUntil }) => stoppedUntil < at);
  }

  /** One job of an alert is open at a time: a repeat of it is a duplicate. */
  #lookAtOpen(): void {
    const { store, watch } = this.#place;
    const twice = store.rows(`select events.rule as rule, events.fingerprint as about, count(*) as n from events
      join jobs on jobs.id = events.job_id
      where events.source = 'alertmanager' and jobs.state in ('queued', 'running', 'awaiting_approval')
      group by events.rule, events.fingerprint, events.status having count(*) > 1`);
    for (const { rule, about, n } of twice)
      watch.violated('H3', `${String(n)} jobs of the rule ${String(rule)} about ${String(about)} are open`);
  }

  #lookAtCooldown(): void {
    const { world, store, watch } = this.#place;
    const fires = store.rows(
      "select id, fingerprint as about from events where rule = 'disk' and outcome = 'fired' order by id",
    );
    for (const { id, about } of fires) {
      if (this.#seen.has(id)) continue;
      this.#seen.add(id);
      const beforeAt = this.#firedAt.get(about);
      this.#firedAt.set(about, world.now);
      if (beforeAt === undefined) continue;
      const afterMs = world.now - beforeAt;
      if (afterMs < COOLDOWN_MS - LATE_MS && this.#isSteadySince(beforeAt, false))
        watch.violated('H4', `the rule disk acted on ${String(about)} again after ${afterMs} ms`);
    }
  }
}
