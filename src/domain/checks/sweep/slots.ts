import { hash } from 'node:crypto';

/**
 * When a target is probed: once in each interval, at a place that follows from the names of its check and itself. All
 * daemons compute the same times from the clock that they share, so that a target may move to another daemon, and is
 * not probed twice in one interval.
 */
export interface Slots {
  readonly intervalMs: number;
  /** Milliseconds since the epoch, modulo the interval. */
  readonly phaseMs: number;
}

/** Where a target is among all targets, the same on each machine. */
export interface Place {
  /** From 0 to 1, spread evenly: the part of the interval after which it is probed. */
  readonly share: number;
  /** The part of all targets that it belongs to: one daemon at a time has a part. */
  readonly shard: number;
}

export const SHARDS = 64;

/** 48 bits are exact in a number. */
const SHARE_DIGITS = 12;

export function placeOf(check: string, target: string): Place {
  const digits = hash('sha256', `${check}\n${target}`);
  const share = Number.parseInt(digits.slice(0, SHARE_DIGITS), 16) / 16 ** SHARE_DIGITS;
  return { share, shard: Number.parseInt(digits.slice(-4), 16) % SHARDS };
}

export function slotsOf(intervalMs: number, { share }: Place): Slots {
  return { intervalMs, phaseMs: Math.floor(share * intervalMs) };
}

/** The first slot after a time. */
export function slotAfter({ intervalMs, phaseMs }: Slots, at: number): number {
  return (Math.floor((at - phaseMs) / intervalMs) + 1) * intervalMs + phaseMs;
}
