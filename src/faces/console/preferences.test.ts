import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attributesOf, preferencesOf } from './preferences.ts';

const STANDARD = { scheme: 'auto', density: 'comfortable', times: 'utc', keys: 'on' };

test('A cookie chooses among what is offered', () => {
  const chosen = { scheme: 'dark', density: 'compact', times: 'local', keys: 'off' };
  assert.deepEqual(preferencesOf('svc_session=x; svc_view=dark.compact.local.off'), chosen);
  assert.deepEqual(preferencesOf('svc_view=light'), { ...STANDARD, scheme: 'light' });
  assert.equal(
    attributesOf(chosen).text,
    ' data-scheme="dark" data-density="compact" data-times="local" data-keys="off"',
  );
});

test('A cookie with anything else in it chooses nothing', () => {
  for (const cookie of [undefined, '', 'svc_view=', 'svc_view="><b>', 'svc_view=a.b.c.d.e.f', 'my_svc_view=dark'])
    assert.deepEqual(preferencesOf(cookie), STANDARD, String(cookie));
});
