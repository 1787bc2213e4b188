import { isatty } from 'node:tty';
import { styleText } from 'node:util';
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

const STDERR = 2;

/**
 * On standard error: lines for people where it is a terminal, else JSON. Standard output belongs to answers. An error
 * has the key `err`.
 */
export function createLog(): Log {
  const options = { base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: loggedError } };
  const destination = pino.destination({ fd: STDERR, sync: true });
  if (!isatty(STDERR)) return pino(options, destination);
  return pino(options, { write: (json: string) => void destination.write(lineForPeople(json, painted)) });
}

type Format = 'red' | 'yellow' | 'green' | 'dim';
type Paint = (format: Format, text: string) => string;

/** The stream knows NO_COLOR and what the terminal can show. */
function painted(format: Format, text: string): string {
  return styleText(format, text, { stream: process.stderr });
}

/** By the levels of pino, the least severe first. */
const LEVELS: readonly (readonly [from: number, word: string, format: Format])[] = [
  [10, 'DEBUG', 'dim'],
  [30, 'INFO ', 'green'],
  [40, 'WARN ', 'yellow'],
  [50, 'ERROR', 'red'],
];

/** One line of the log for a person: `22:03:11 UTC  WARN   job finished  job_…  failed  exitCode=1`. */
export function lineForPeople(json: string, paint: Paint): string {
  const { level, time, msg, err, ...others } = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const [, word, format] = LEVELS.findLast(([from]) => Number(level) >= from) ?? [0, 'INFO ', 'dim'];
  const facts = Object.entries(others).map(([name, value]) => `${name}=${inWords(value)}`);
  const shown = [String(msg), ...facts, ...(err === undefined ? [] : [errorInWords(err as LoggedError)])];
  const clock = `${String(time).slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm:ss'.length)} UTC`;
  return `${paint('dim', clock)}  ${paint(format, word)}  ${visible(shown.join('  '))}\n`;
}

function inWords(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Its first line, with those of its causes: the JSON has the stack. */
function errorInWords({ stack, cause }: LoggedError): string {
  const [first = ''] = stack.split('\n');
  return cause === undefined ? first : `${first} (${errorInWords(cause)})`;
}

/** A sender may choose parts of a line, and a terminal obeys control characters. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ');
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
