import { pino, type Logger } from 'pino';
import { errorCode } from './error-code.ts';

export type Log = Logger;

/** The members of an error that a log line shows: other members of a database's error hold the row that it refused. */
interface LoggedError {
  readonly type: string;
  readonly code?: string;
  readonly stack: string;
  readonly cause?: LoggedError;
}

/** Lines of JSON on standard error. Standard output belongs to answers. An error has the key `err`. */
export function createLog(): Log {
  const options = { base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: loggedError } };
  return pino(options, pino.destination({ fd: 2, sync: true }));
}

export function loggedError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, stack: '' };
  const code = errorCode(error);
  return {
    type: error.name,
    ...(code === null ? {} : { code }),
    stack: error.stack ?? error.message,
    ...(error.cause === undefined ? {} : { cause: loggedError(error.cause) }),
  };
}
