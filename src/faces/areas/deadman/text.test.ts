import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from '../../cli/render.ts';
import type { Display } from '../../text/display.ts';

const ADDED = '2026-11-21T12:00:00.000Z';
const display: Display = { color: false, width: null, nowMs: Date.parse(ADDED) };

const stateOf = (state: 'heard' | 'silent' | 'waiting', heardAt: string | null): string => {
  const text = render(
    'deadman.get',
    { name: 'dog', webhook: 'hook', every: '10s', state, last_heard_at: heardAt, created_at: ADDED },
    display,
  );
  return /^State +(.*)$/m.exec(text)?.[1] ?? '';
};

test('A watch whose webhook was never heard says since when its silence counts', () => {
  const adding = /; the silence counts from the creation of the watch$/;
  assert.match(stateOf('waiting', null), adding);
  assert.match(stateOf('heard', '2026-11-21T11:59:00.000Z'), adding);
  assert.equal(stateOf('heard', '2026-11-21T12:00:01.000Z'), 'heard');
  assert.equal(stateOf('silent', '2026-11-21T11:59:00.000Z'), 'silent');
});
