import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTargets, targetKey } from './target-names.ts';

const KEY = Buffer.alloc(32, 1);
const namesOf = (...texts: string[]) => readTargets(texts).map(({ name }) => name);
const keyOf = (text: string, key = KEY) => targetKey(readTargets([text])[0]!, key);

test('A target has the name in front of its URL, else that of its kind and its number among those of this kind', () => {
  assert.deepEqual(
    namesOf(
      'ntfy+https://ntfy.example.com/ops',
      'https://hooks.example.com/a?b=c',
      'mail=smtp://mail.example.com?to=ops@example.com',
      'smtps://mail.example.com?to=dev@example.com',
      'ntfy+http://ntfy/dev',
      'http://pager',
    ),
    ['ntfy-1', 'webhook-1', 'mail', 'smtp-2', 'ntfy-2', 'webhook-2'],
  );
});

test('Two targets of one name, and a name of another form, are refused without a word of the URL', () => {
  const refused: readonly (readonly [string[], RegExp])[] = [
    [
      ['ops=https://one/s3cret', 'ops=https://two/s3cret'],
      /^--notify: targets 1 and 2 have the same name ops; expected different names\.$/,
    ],
    [['webhook-2=https://one/s3cret', 'https://two/s3cret'], /targets 1 and 2 have the same name webhook-2/],
    [['Ops=https://one/s3cret'], /^--notify: target 1 has an invalid name before the =;/],
    [['=https://one/s3cret'], /invalid name/],
    [['a b=https://one/s3cret'], /invalid name/],
    [['http://one', 'ops=s3cret'], /^--notify: target 2 has an unknown scheme; expected ntfy\+https:/],
  ];
  for (const [texts, why] of refused) {
    assert.throws(
      () => readTargets(texts),
      (error: Error) =>
        why.test(error.message) && !error.message.includes('s3cret') && !error.message.includes('//one'),
      texts.join(' '),
    );
  }
});

test('A key is that of name and URL, not of the credentials, and says nothing without the seal key', () => {
  const key = keyOf('ops=ntfy+https://:tk_1@ntfy.example.com/ops');
  assert.equal(keyOf('ops=ntfy+https://:tk_2@ntfy.example.com/ops'), key);
  for (const other of [
    'ntfy+https://ntfy.example.com/ops',
    'ops=ntfy+https://ntfy.example.com/dev',
    'ops=ntfy+http://ntfy.example.com/ops',
    'ops=https://ntfy.example.com/ops',
  ])
    assert.notEqual(keyOf(other), key);
  assert.notEqual(keyOf('ops=ntfy+https://ntfy.example.com/ops', Buffer.alloc(32, 2)), key);
});
