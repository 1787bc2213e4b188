import type { MetricOp } from '../../domain/checks/check.ts';

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,9})?$/i;
const INFINITY = /^([+-]?)inf(?:inity)?$/i;
const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/**
 * The number in an answer: at the JSON pointer (RFC 6901) if there is one, else that of a plain text or of an instant
 * query to Prometheus. Null for anything else, also for NaN, which compares with nothing.
 */
export function readMetric(text: string, pointer: string | null): number | null {
  const plain = pointer === null ? numberOf(text.trim()) : null;
  if (plain !== null) return plain;
  const document = parsed(text);
  return numberOf(pointer === null ? queried(document) : at(document, pointer));
}

export function holds(read: number, op: MetricOp, value: number): boolean {
  return COMPARISONS[op](read, value);
}

const COMPARISONS: Readonly<Record<MetricOp, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
};

/** A number of JSON, or a text that is one: Prometheus writes its values as texts. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  if (NUMBER.test(value)) return Number(value);
  const [, sign] = INFINITY.exec(value) ?? [];
  return sign === undefined ? null : Number(`${sign}Infinity`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value of an answer of Prometheus: a scalar, or a vector of one series. It is the second of `[time, value]`. */
function queried(document: unknown): unknown {
  if (member(document, 'status') !== 'success') return undefined;
  const result = at(document, '/data/result');
  if (member(member(document, 'data'), 'resultType') === 'scalar') return member(result, '1');
  const [series, ...others] = Array.isArray(result) ? (result as readonly unknown[]) : [];
  return others.length === 0 ? at(series, '/value/1') : undefined;
}

function at(document: unknown, pointer: string): unknown {
  const [, ...tokens] = pointer.split('/');
  return tokens.reduce(
    (value: unknown, token) => member(value, token.replaceAll('~1', '/').replaceAll('~0', '~')),
    document,
  );
}

function member(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return INDEX.test(name) ? (value as readonly unknown[])[Number(name)] : undefined;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
