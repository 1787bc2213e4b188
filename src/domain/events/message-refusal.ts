/** Why messages of a webhook are refused, in words of the doctor. Only an event reports a refused message. */
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
