import { formatDuration, shortDuration } from '../domain/duration.ts';
import { type DoctorEntry, type Examine, fail, type Facts, type Finding, unknown } from './entry.ts';
import { plainReason } from './reason.ts';

/**
 * While nothing was written to the store, a finding is reused for this multiple of the time that it took: however often
 * a reader asks, an examination takes at most a tenth of the time.
 */
const KEPT_TIMES = 9;
/** A finding of an examination that starts programs is reused for this long. */
const PROGRAMS_KEPT_MS = 60_000;
/** The longest entry: a report is read by people. */
const DETAIL_MAX_CHARS = 2_000;

export interface Check {
  readonly name: string;
  readonly limitMs: number;
  readonly examine: Examine;
  /** Starts programs, which takes seconds and does not depend on the store. */
  readonly startsPrograms?: boolean;
}

/** `version` is that of the store before the examination read it; null where the store has none. */
interface Running {
  readonly version: string | null;
  readonly finding: Promise<Finding>;
}

interface Kept {
  readonly version: string | null;
  readonly finding: Finding;
  readonly endedMs: number;
  readonly untilMs: number;
}

/**
 * One entry of the doctor. Callers share an examination if it began after the last write to the store. Otherwise they
 * share the next one, so that any number of callers cost one examination at a time, and none gets an older finding.
 */
export class Examination {
  readonly #check: Check;
  readonly #facts: Facts;
  #running: Running | null = null;
  #next: Promise<Finding> | null = null;
  #kept: Kept | null = null;

  constructor(check: Check, facts: Facts) {
    this.#check = check;
    this.#facts = facts;
  }

  async entry(): Promise<DoctorEntry> {
    const { name } = this.#check;
    const kept = this.#reusable();
    if (kept === null) {
      const { status, detail } = await this.#inTime(this.#examined());
      return { name, status, detail: shorten(detail) };
    }
    const { status, detail } = kept.finding;
    return { name, status, detail: shorten(this.#check.startsPrograms === true ? this.#withAge(kept) : detail) };
  }

  #reusable(): Kept | null {
    const kept = this.#kept;
    if (kept === null || this.#facts.clock.monotonic() >= kept.untilMs) return null;
    return this.#isCurrent(kept.version) ? kept : null;
  }

  /** Whether what was read at that version of the store is not older than the store. */
  #isCurrent(version: string | null): boolean {
    return this.#check.startsPrograms === true || (version !== null && version === versionOf(this.#facts));
  }

  #withAge({ finding, endedMs }: Kept): string {
    const ageMs = this.#facts.clock.monotonic() - endedMs;
    return ageMs < 1_000 ? finding.detail : `${finding.detail} (found ${shortDuration(ageMs)} ago)`;
  }

  #examined(): Promise<Finding> {
    const running = this.#running;
    if (running === null) return this.#start();
    if (this.#isCurrent(running.version)) return running.finding;
    this.#next ??= running.finding.then(() => {
      this.#next = null;
      return this.#examined();
    });
    return this.#next;
  }

  #start(): Promise<Finding> {
    const version = versionOf(this.#facts);
    const finding = this.#examine(version);
    this.#running = { version, finding };
    return finding;
  }

  /** Never rejects. */
  async #examine(version: string | null): Promise<Finding> {
    const { clock } = this.#facts;
    const beganMs = clock.monotonic();
    const finding = await this.#attempt();
    const endedMs = clock.monotonic();
    const keptMs = this.#check.startsPrograms === true ? PROGRAMS_KEPT_MS : (endedMs - beganMs) * KEPT_TIMES;
    this.#kept = { version, finding, endedMs, untilMs: endedMs + keptMs };
    this.#running = null;
    return finding;
  }

  async #attempt(): Promise<Finding> {
    try {
      return await this.#check.examine(this.#facts);
    } catch (error) {
      return fail(`The examination failed: ${plainReason(error)}.`);
    }
  }

  async #inTime(finding: Promise<Finding>): Promise<Finding> {
    const { limitMs } = this.#check;
    const { promise: late, resolve } = Promise.withResolvers<Finding>();
    const cancel = this.#facts.clock.after(limitMs, () =>
      resolve(unknown(`No answer within ${formatDuration(limitMs)}.`)),
    );
    try {
      return await Promise.race([finding, late]);
    } finally {
      cancel();
    }
  }
}

/** Null also where the store is not open: the entry `store` reports why. */
function versionOf({ openedStore }: Facts): string | null {
  try {
    return openedStore().version();
  } catch {
    return null;
  }
}

function shorten(detail: string): string {
  return detail.length <= DETAIL_MAX_CHARS ? detail : `${detail.slice(0, DETAIL_MAX_CHARS - 1)}…`;
}
