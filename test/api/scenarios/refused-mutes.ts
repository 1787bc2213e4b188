/** Mutes that are refused with 400, what the message has to say, and how. */
export const REFUSED_MUTES: readonly (readonly [rule: string, body: object, message: RegExp])[] = [
  ['neither for nor expires_at', { scope_kind: 'global' }, /^for, expires_at: expected exactly one/],
  [
    'both for and expires_at',
    { scope_kind: 'global', for: '1h', expires_at: '2099-01-01T00:00:00Z' },
    /^for, expires_at: expected exactly one/,
  ],
  [
    'a time in the past',
    { scope_kind: 'global', expires_at: '2020-01-01T00:00:00Z' },
    /^expires_at: expected a time in the future/,
  ],
  [
    'a time without a zone',
    { scope_kind: 'global', expires_at: '2099-01-01T00:00:00' },
    /^expires_at: expected a time such as/,
  ],
  ['a duration of nothing', { scope_kind: 'global', for: '0s' }, /^for: expected a positive duration/],
  ['a negative duration', { scope_kind: 'global', for: '-1h' }, /^for: expected a positive duration/],
  ['an end after the year 9999', { scope_kind: 'global', for: '9999999d' }, /^for: expected/],
  [
    'a time after the year 9999',
    { scope_kind: 'global', expires_at: '9999-12-31T23:00:00-05:00' },
    /^expires_at: expected a time before/,
  ],
  ['an alert without its name', { scope_kind: 'alert', for: '1h' }, /^scope_value: required for a mute of scope alert/],
  [
    'a host of blanks',
    { scope_kind: 'host', scope_value: '  ', for: '1h' },
    /^scope_value: required for a mute of scope host/,
  ],
  [
    'a global scope with a value, which was meant to be narrower',
    { scope_kind: 'global', scope_value: 'db1', for: '1h' },
    /^scope_value: a global mute has none/,
  ],
  [
    'an unknown scope',
    { scope_kind: 'rule', scope_value: 'x', for: '1h' },
    /^scope_kind: expected one of alert, host, global/,
  ],
  ['an unknown field', { scope_kind: 'global', for: '1h', until: 'x' }, /"until": no such field/],
];
