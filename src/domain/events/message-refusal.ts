/**
 * Why messages of a webhook are refused, or taken with a fault, in words of the doctor. Only an event reports such a
 * message.
 */
export const MESSAGE_REFUSALS = {
  too_large: 'too large',
  too_many_alerts: 'too many alerts',
  unreadable: 'not readable',
  compressed: 'compressed',
  too_slow: 'took too long to read',
  unsigned: 'signature missing or wrong',
  repeated: 'sent twice with one signature',
  repaired: 'taken with repairs of its JSON',
  truncated: 'taken without alerts that the sender left out (max_alerts)',
} as const;

export type MessageRefusal = keyof typeof MESSAGE_REFUSALS;

const LEFT_OUT = 'The sender left ';

/** The problem of a message that its sender cut short. */
export function leftOut(alerts: number): string {
  return `${LEFT_OUT}${alerts} alerts out of this message (max_alerts).`;
}

/** The problem of a message whose JSON was repaired: the same for all, so that it is recorded once in a while. */
export const REPAIRED = 'The payload is not valid JSON; it was read with repairs. Correct the template of the sender.';

export function saysLeftOut(problem: string): boolean {
  return problem.startsWith(LEFT_OUT);
}
