import { Failure } from './failure.ts';

const UNITS_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;
const FORM = /^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,8})s)?(?:(\d{1,9})ms)?$/;

/** `30s`, `5m`, `1h30m`, `7d`, `250ms` to milliseconds; null for any other text. */
export function parseDuration(text: string): number | null {
  const match = FORM.exec(text);
  if (match === null || text === '') return null;
  const [, d, h, m, s, ms] = match;
  return (
    Number(d ?? 0) * UNITS_MS.d +
    Number(h ?? 0) * UNITS_MS.h +
    Number(m ?? 0) * UNITS_MS.m +
    Number(s ?? 0) * UNITS_MS.s +
    Number(ms ?? 0)
  );
}

/** Milliseconds to the shortest text that parses back to them. */
export function formatDuration(ms: number): string {
  let left = Math.max(0, Math.trunc(ms));
  if (left === 0) return '0s';
  let text = '';
  for (const [unit, size] of Object.entries(UNITS_MS)) {
    const count = Math.floor(left / size);
    if (count > 0) text += `${count}${unit}`;
    left -= count * size;
  }
  return text;
}

/**
 * The same for people: from the largest unit on, `units` of them stay, and the rest is dropped. `1h59m`, not
 * `1h59m59s999ms`. Below a second it is exact.
 */
export function shortDuration(ms: number, units: 1 | 2 = 2): string {
  const sizes = Object.values(UNITS_MS);
  const largest = sizes.findIndex((size) => ms >= size);
  // Milliseconds say nothing beside seconds.
  const unit = Math.min(largest + units - 1, sizes.indexOf(ms < UNITS_MS.s ? UNITS_MS.ms : UNITS_MS.s));
  const size = sizes[unit] ?? UNITS_MS.ms;
  return formatDuration(ms - (ms % size));
}

/**
 * The time left until a deadline, as precise as a person needs it: `40s left`, `1m30s left`, `5m left`, `1h5m left`,
 * `2d3h left`. To the nearest second, and then rounded down, so that no one relies on time that is not left.
 */
export function timeLeft(ms: number): string {
  const left = Math.round(ms / UNITS_MS.s) * UNITS_MS.s;
  if (left <= 0) return 'no time left';
  // Seconds only where they matter.
  return `${shortDuration(left < 2 * UNITS_MS.m ? left : left - (left % UNITS_MS.m))} left`;
}

/** Like `parseDuration`, with bounds. */
export function readDuration(text: string, minMs: number, maxMs: number): { ms: number } | { fault: string } {
  const ms = parseDuration(text);
  if (ms === null) return { fault: 'expected a duration such as 30s, 5m or 1h30m' };
  if (ms >= minMs && ms <= maxMs) return { ms };
  return { fault: `expected at least ${formatDuration(minMs)} and at most ${formatDuration(maxMs)}` };
}

/** Like `readDuration`; throws invalid_argument that names `field`. */
export function requireDuration(field: string, text: string, minMs: number, maxMs: number): number {
  const read = readDuration(text, minMs, maxMs);
  if ('fault' in read) throw new Failure('invalid_argument', `${field}: ${read.fault}.`);
  return read.ms;
}
