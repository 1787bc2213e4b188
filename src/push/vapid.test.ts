import assert from 'node:assert/strict';
import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { test } from 'node:test';
import { readPushKeys } from './encrypt.ts';
import { vapidKeyOf } from './vapid.ts';

const SUBJECT = 'https://svc.example.com';
const NOW = Date.parse('2026-01-02T03:04:05.678Z');

test('A header is signed by the public key that it names, for the origin of the push service and 12 hours', () => {
  const key = vapidKeyOf(randomBytes(32));
  const header = key.authorization(new URL('https://push.example.com:8443/send/abc?x=1'), SUBJECT, NOW);
  const [, head = '', claims = '', signature = '', k = ''] =
    /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$/.exec(header) ?? assert.fail(header);
  assert.equal(k, key.publicKey);
  assert.deepEqual(decoded(head), { typ: 'JWT', alg: 'ES256' });
  assert.deepEqual(decoded(claims), {
    aud: 'https://push.example.com:8443',
    exp: Date.parse('2026-01-02T15:04:05Z') / 1_000,
    sub: SUBJECT,
  });
  const valid = (text: string): boolean =>
    verify(
      'sha256',
      Buffer.from(text),
      { key: publicKeyOf(k), dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
  assert.equal(valid(`${head}.${claims}`), true);
  assert.equal(valid(`${head}.${claims}A`), false);
});

test('A seal key has one key, a point of P-256, and another seal key has another', () => {
  const keys = Array.from({ length: 200 }, (_, n) => vapidKeyOf(Buffer.alloc(32, n)).publicKey);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(vapidKeyOf(Buffer.alloc(32, 7)).publicKey, keys[7]);
  for (const p256dh of keys) readPushKeys({ p256dh, auth: 'BTBZMqHH6r4Tts7J_aSIgg' });
});

function decoded(text: string): unknown {
  return JSON.parse(Buffer.from(text, 'base64url').toString());
}

function publicKeyOf(text: string): ReturnType<typeof createPublicKey> {
  const point = Buffer.from(text, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  return createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: x!, y: y! } });
}
