import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal } from '../../../../test/support/refusal.ts';
import { hideCredentials, keptCredentials } from './kept.ts';

test('a credential in a URL is hidden, and everything else stays', () => {
  const cases: Record<string, string> = {
    'https://joe:pass@host/x': 'https://[kept]@host/x',
    'https://joe:p@ss@host': 'https://[kept]@host',
    'curl -s https://joe:"x"@host https://tok@other': 'curl -s https://[kept]@host https://[kept]@other',
    'postgres://u:p@h/db?sslmode=require&password=x': 'postgres://[kept]@h/db?sslmode=require&password=[kept]',
    'https://h/hook?api%5Fkey=x#token=y': 'https://h/hook?api%5Fkey=[kept]#token=[kept]',
    'https://h/@name?q=a@b': 'https://h/@name?q=a@b',
    '--password=x joe@host': '--password=x joe@host',
    // The user of an ssh URL is no credential.
    'ssh://git@host:22/a.git xssh://tok@host': 'ssh://git@host:22/a.git xssh://[kept]@host',
    'git+ssh://git:pass@host/a.git': 'git+ssh://[kept]@host/a.git',
    '': '',
  };
  for (const [text, hidden] of Object.entries(cases)) {
    assert.equal(hideCredentials(text), hidden);
    assert.equal(keptCredentials('x', [text])(hidden), text);
  }
});

test('[kept] keeps the credential of the same URL only, in its order', () => {
  const stored = ['https://a:1@host/x', 'https://b:2@host/x'];
  const keep = keptCredentials('action', stored);
  assert.deepEqual(stored.map(hideCredentials).map(keep), stored);
  assert.equal(
    keptCredentials('action', stored)('[kept] https://h/[kept]?q=[kept]x'),
    '[kept] https://h/[kept]?q=[kept]x',
  );
  for (const text of ['https://[kept]@evil/x', 'https://[kept]@host/y', 'https://host/x?token=[kept]'])
    assert.throws(
      () => keptCredentials('action', stored)(text),
      refusal('invalid_argument', /^action: \[kept\] keeps/),
    );
});

test('long texts are looked through once', () => {
  for (const text of [
    '://'.repeat(40_000),
    `://${'@'.repeat(100_000)}`,
    `://h?${'a'.repeat(100_000)}`,
    `://${'?a='.repeat(40_000)}`,
  ])
    assert.equal(typeof hideCredentials(text), 'string');
});
