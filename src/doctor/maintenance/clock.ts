import { formatDuration } from '../../domain/duration.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { Store } from '../../store/store.ts';
import { fail, type Facts, type Finding, ok, warn } from '../entry.ts';
import { plainReason } from '../reason.ts';

/** Older than any build: an earlier clock was never set. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);
/** Two clocks read one after the other differ by microseconds; a step by NTP at boot is a matter of seconds. */
const DRIFT_WARN_MS = 2_000;
/** Lists mix the times of daemons that share a database; a larger difference makes their order misleading. */
const DATABASE_WARN_MS = 1_000;

/**
 * Checks that the wall clock is set, did not jump since the process began, and agrees with the database's where leases
 * use that.
 */
export async function examineClock(facts: Facts): Promise<Finding> {
  const { clock, began } = facts;
  const now = clock.now();
  if (now < EARLIEST_MS)
    return fail(`The wall clock shows ${rfc3339(now)}, so it was never set. Set it, for example with NTP.`);
  const driftMs = now - began.wallMs - (clock.monotonic() - began.monotonicMs);
  const database = await databaseAhead(facts);
  const faults: string[] = [];
  if (Math.abs(driftMs) > DRIFT_WARN_MS) {
    faults.push(`the wall clock was moved by ${signed(driftMs)} since the start of this process, or the machine slept`);
  }
  if (database.aheadMs !== null && Math.abs(database.aheadMs) - database.unsureMs > DATABASE_WARN_MS) {
    faults.push(`the database's clock is ${signed(database.aheadMs)} against ours`);
  }
  if (faults.length > 0) return warn(`${rfc3339(now)}; ${faults.join('; ')}.`);
  return ok(`${rfc3339(now)}, ${signed(driftMs)} against monotonic time since the start${database.note}.`);
}

const UNKNOWN = { aheadMs: null, unsureMs: 0 } as const;

interface Ahead {
  readonly aheadMs: number | null;
  /** How far the difference may be off: a database that answers late says less. */
  readonly unsureMs: number;
  readonly note: string;
}

async function databaseAhead({ clock, openedStore }: Facts): Promise<Ahead> {
  let store: Store;
  try {
    store = openedStore();
  } catch {
    return { ...UNKNOWN, note: '' };
  }
  try {
    if (store.dialect.liveness === 'lock') return { ...UNKNOWN, note: '' };
    const before = clock.now();
    const asked = clock.monotonic();
    const theirs = await store.dialect.leaseClock(store.db);
    // The database read its clock between request and response; the middle is off by at most half of that time.
    const unsureMs = (clock.monotonic() - asked) / 2;
    const aheadMs = theirs - (before + unsureMs);
    return { aheadMs, unsureMs, note: `, ${signed(aheadMs)} against the database` };
  } catch (error) {
    return { ...UNKNOWN, note: `; the database's clock cannot be asked: ${plainReason(error)}` };
  }
}

function signed(ms: number): string {
  const whole = Math.round(ms);
  return `${whole < 0 ? '-' : '+'}${formatDuration(Math.abs(whole))}`;
}
