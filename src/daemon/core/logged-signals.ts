import { Failure } from '../../domain/failure.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { InvariantBroken } from '../../lib/invariants/invariants.ts';
import type { Log } from '../../lib/log.ts';
import { createSignals, type Signals } from './signals.ts';

/** While the database is lost every loop fails, again and again: one line says so, then one each minute. */
const OUTAGE_LINE_MS = 60_000;
const LOST_LEASE =
  'lost lease: the database was away too long; running jobs are interrupted, and the daemon starts again';
const BAD_ENDS: ReadonlySet<string> = new Set(['failed', 'interrupted']);

/** The signals of a daemon, each a line of the log. */
export function loggedSignals(log: Log, clock: Pick<Clock, 'monotonic'> = systemClock): Signals {
  const signals = createSignals();
  signals.on('job:started', (event) => log.info(event, 'job started'));
  signals.on('job:finished', (event) => log[BAD_ENDS.has(event.state) ? 'warn' : 'info'](event, 'job finished'));
  signals.on('job:fenced', (event) => log.warn(event, 'job was lost to another daemon'));
  signals.on('job:rescued', (event) => log.warn(event, 'job of a dead daemon marked interrupted'));
  signals.on('job:stuck', (event) => log.error(event, 'processes of a dead daemon do not end'));
  signals.on('lease:lost', (event) => log.error(event, LOST_LEASE));
  signals.on('loop:done', ({ name, did }) => log.info({ name, ...did }, 'pass'));
  logOutages(signals, log, clock);
  return signals;
}

function logOutages(signals: Signals, log: Log, clock: Pick<Clock, 'monotonic'>): void {
  let loggedAt: number | null = null;
  let failures = 0;
  signals.on('loop:failed', ({ name, error }) => {
    // It has its own line, with its facts, and this pass is tried again and again.
    if (error instanceof InvariantBroken) return;
    if (!(error instanceof Failure) || error.code !== 'unavailable') {
      log.error({ name, err: error }, 'pass failed');
      return;
    }
    failures += 1;
    const now = clock.monotonic();
    if (loggedAt !== null && now < loggedAt + OUTAGE_LINE_MS) return;
    loggedAt = now;
    log.error({ reason: error.message, failures }, 'the database cannot be used; trying again');
  });
  signals.on('loop:recovered', () => {
    if (loggedAt === null) return;
    log.info({ failures }, 'the database can be used again');
    loggedAt = null;
    failures = 0;
  });
}
