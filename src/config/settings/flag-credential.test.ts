import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './read-settings.ts';

const PASSWORDS = [
  'postgres://me:pw@db/x',
  'postgresql://me:@db/x',
  'postgres://me@db/x?password=pw',
  'postgres://db/x?sslmode=require&password=pw',
  'postgres://:pw@db/x',
];
const TARGETS = [
  'ntfy+https://:tk_abc@ntfy.example/ops',
  'ntfy+https://tk_abc@ntfy.example/ops',
  'smtp://me:pw@mail.example?to=ops@example.com',
  'https://me:pw@hooks.example/x',
  'mail=smtps://me:pw@mail.example?to=ops@example.com',
  'https://hooks.example/x?auth=abc',
  'https://hooks.example/x?access_token=abc',
  'ntfy+https://ntfy.example/ops https://hooks.example/x?sig=abc',
];

test('T65: a password of the database is refused in a flag, is not repeated, and is taken from the environment', () => {
  for (const url of PASSWORDS) {
    assert.throws(
      () => readSettings({ 'database-url': url }, {}),
      (error: Error & { code?: string }) =>
        error.code === 'invalid_argument' &&
        /^--database-url: .*SVC_DATABASE_URL.*PGPASSFILE/.test(error.message) &&
        !error.message.includes('pw'),
      url,
    );
    assert.equal(readSettings({}, { SVC_DATABASE_URL: url }).databaseUrl, url);
  }
  assert.equal(
    readSettings({ 'database-url': 'postgres://me@db/x?sslmode=require' }, {}).databaseUrl,
    'postgres://me@db/x?sslmode=require',
  );
});

test(
  'T65: a target with a user, a password or a token is refused in a flag, is not repeated, and is taken from the ' +
    'environment',
  () => {
    for (const target of TARGETS) {
      assert.throws(
        () => readSettings({ notify: target }, {}),
        (error: Error & { code?: string }) =>
          error.code === 'invalid_argument' &&
          /^--notify: .*SVC_NOTIFY/.test(error.message) &&
          !/abc|pw/.test(error.message),
        target,
      );
      assert.equal(readSettings({}, { SVC_NOTIFY: target }).notify.join(' '), target);
    }
    const plain =
      'ntfy+https://ntfy.example/ops smtp://mail.example?to=ops@example.com&from=svc@example.com ' +
      'https://hooks.example/x?room=3';
    assert.equal(readSettings({ notify: plain }, {}).notify.length, 3);
  },
);
