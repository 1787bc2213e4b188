/**
 * Why messages of a webhook are refused, and the words of the doctor for it. A refused message left no event but one
 * that says so.
 */
export const MESSAGE_REFUSALS = {
  too_large: 'too large',
  too_many_alerts: 'too many alerts',
  unreadable: 'not readable',
  compressed: 'compressed',
  too_slow: 'took too long to read',
  unsigned: 'signature missing or wrong',
  repeated: 'sent twice with one signature',
} as const;

export type MessageRefusal = keyof typeof MESSAGE_REFUSALS;
