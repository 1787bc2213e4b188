import type { Reading } from './observe.ts';

/**
 * What is kept of the observations of a target on one day (UTC): for each half hour the number of each reading and the
 * mean duration, and for each two hours how many durations were in which range. A day has at most some 2.5 KB.
 */
export interface DaySlot {
  readonly up: number;
  readonly down: number;
  readonly missed: number;
  /** How many of them were made during a snooze. */
  readonly snoozed: number;
  /** The sum of the durations of those that were up, in milliseconds. */
  readonly sumMs: number;
}

export const DAY_MS = 86_400_000;
export const SLOT_MS = 30 * 60_000;
const SLOTS = DAY_MS / SLOT_MS;
/** Durations are counted for each four half hours. */
export const SLOTS_PER_RANGE_SET = 4;

/** Upper ends of ranges of durations: each is a fourth longer than the one before, from 0.1 ms to 10 s and more. */
const SMALLEST_MS = 0.1;
const GROWTH = 1.25;
const RANGES = 54;

/** What a daemon has seen of a target in one half hour and not written yet. */
export interface Gathered {
  readonly slot: number;
  up: number;
  down: number;
  missed: number;
  snoozed: number;
  sumMs: number;
  /** How many durations of those that were up were in which range. */
  readonly ranges: Map<number, number>;
}

interface Observed {
  readonly at: number;
  readonly reading: Reading;
  readonly isSnoozed: boolean;
  readonly durationMs: number;
}

/** Adds an observation to what was gathered, which is in the order of time. */
export function gather(gathered: Gathered[], { at, reading, isSnoozed, durationMs }: Observed): void {
  const slot = Math.floor(at / SLOT_MS);
  let last = gathered.at(-1);
  if (last?.slot !== slot) {
    last = { slot, up: 0, down: 0, missed: 0, snoozed: 0, sumMs: 0, ranges: new Map() };
    gathered.push(last);
  }
  last[reading] += 1;
  if (isSnoozed) last.snoozed += 1;
  if (reading !== 'up') return;
  last.sumMs += durationMs;
  const range = rangeOf(durationMs);
  last.ranges.set(range, (last.ranges.get(range) ?? 0) + 1);
}

function rangeOf(durationMs: number): number {
  const range = Math.ceil(Math.log(Math.max(durationMs, SMALLEST_MS) / SMALLEST_MS) / Math.log(GROWTH));
  return Math.min(range, RANGES - 1);
}

/** The day of a half hour, both counted from the epoch. */
export function dayOf(slot: number): number {
  return Math.floor(slot / SLOTS);
}

/** A day of a target as numbers. */
export interface Day {
  readonly slots: readonly DaySlot[];
  /** For each two hours, how many durations were in each range. */
  readonly durations: readonly (readonly number[])[];
}

const FIELDS = ['up', 'down', 'missed', 'snoozed', 'sumMs'] as const satisfies readonly (keyof DaySlot)[];
const FORMAT = 1;

/** A day without an observation. */
export function emptyDay(): Day {
  const slot: DaySlot = { up: 0, down: 0, missed: 0, snoozed: 0, sumMs: 0 };
  return {
    slots: Array.from({ length: SLOTS }, () => slot),
    durations: Array.from({ length: SLOTS / SLOTS_PER_RANGE_SET }, () => Array<number>(RANGES).fill(0)),
  };
}

/** The day with what was gathered in its half hours. */
export function addGathered(day: Day, gathered: readonly Gathered[]): Day {
  const slots = [...day.slots];
  const durations = day.durations.map((counts) => [...counts]);
  for (const each of gathered) {
    const at = each.slot % SLOTS;
    const before = slots[at];
    if (before === undefined) continue;
    slots[at] = {
      up: before.up + each.up,
      down: before.down + each.down,
      missed: before.missed + each.missed,
      snoozed: before.snoozed + each.snoozed,
      sumMs: before.sumMs + Math.round(each.sumMs),
    };
    const counts = durations[Math.floor(at / SLOTS_PER_RANGE_SET)] ?? [];
    for (const [range, count] of each.ranges) counts[range] = (counts[range] ?? 0) + count;
  }
  return { slots, durations };
}

/** As bytes: numbers of variable length, and for runs of zeros a zero and their number. */
export function encodeDay({ slots, durations }: Day): Uint8Array {
  const bytes: number[] = [FORMAT];
  let zeros = 0;
  const add = (value: number): void => {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
    bytes.push(rest);
  };
  const endZeros = (): void => {
    if (zeros > 0) {
      bytes.push(0);
      add(zeros);
    }
    zeros = 0;
  };
  for (const value of [...slots.flatMap((slot) => FIELDS.map((field) => slot[field])), ...durations.flat()]) {
    if (value === 0) zeros += 1;
    else {
      endZeros();
      add(value);
    }
  }
  endZeros();
  return Uint8Array.from(bytes);
}

/** Reads what `encodeDay` wrote. Throws for other bytes. */
export function decodeDay(bytes: Uint8Array): Day {
  const values: number[] = [];
  let at = 1;
  const next = (): number => {
    for (let [value, unit] = [0, 1]; ; unit *= 128) {
      const byte = bytes[at];
      if (byte === undefined) throw unreadable();
      at += 1;
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  };
  const expected = SLOTS * FIELDS.length + (SLOTS / SLOTS_PER_RANGE_SET) * RANGES;
  if (bytes[0] !== FORMAT) throw unreadable();
  while (at < bytes.length) {
    const value = next();
    const zeros = value === 0 ? next() : 0;
    if (values.length + Math.max(zeros, 1) > expected) throw unreadable();
    for (let count = 0; count < zeros; count += 1) values.push(0);
    if (value !== 0) values.push(value);
  }
  if (values.length !== expected) throw unreadable();
  const number = (index: number): number => values[index] ?? 0;
  return {
    slots: Array.from({ length: SLOTS }, (_, slot) => {
      const [up, down, missed, snoozed, sumMs] = FIELDS.map((_field, field) => number(slot * FIELDS.length + field));
      return { up: up ?? 0, down: down ?? 0, missed: missed ?? 0, snoozed: snoozed ?? 0, sumMs: sumMs ?? 0 };
    }),
    durations: Array.from({ length: SLOTS / SLOTS_PER_RANGE_SET }, (_, set) => {
      const from = SLOTS * FIELDS.length + set * RANGES;
      return values.slice(from, from + RANGES);
    }),
  };
}

function unreadable(): Error {
  return new Error('a day of the history of a check cannot be read');
}

/** The ends of a range of durations, in milliseconds. */
export function rangeStartMs(range: number): number {
  return range === 0 ? 0 : rangeEndMs(range - 1);
}

export function rangeEndMs(range: number): number {
  return SMALLEST_MS * GROWTH ** range;
}
