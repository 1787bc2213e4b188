import { createSignals, type Signals } from './signals.ts';
import type { Log } from '../../lib/log.ts';

/** The signals of a daemon, each a line of the log. */
export function loggedSignals(log: Log): Signals {
  const signals = createSignals();
  signals.on('job:started', (event) => log.info(event, 'job started'));
  signals.on('job:finished', (event) => log.info(event, 'job finished'));
  signals.on('job:fenced', (event) => log.warn(event, 'job was lost to another daemon'));
  signals.on('job:rescued', (event) => log.warn(event, 'job of a dead daemon marked interrupted'));
  signals.on('job:stuck', (event) => log.error(event, 'processes of a dead daemon do not end'));
  signals.on('lease:lost', (event) => log.error(event, 'lost lease'));
  signals.on('loop:done', ({ name, did }) => log.info({ name, ...did }, 'pass'));
  signals.on('loop:failed', ({ name, error }) => log.error({ name, err: error }, 'pass failed'));
  return signals;
}
