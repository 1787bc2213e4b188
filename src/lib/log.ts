import { pino, type Logger } from 'pino';

export type Log = Logger;

/** Lines of JSON on standard error. Standard output belongs to answers. */
export function createLog(level: string): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }));
}
