/** A message to a browser: what its push service gets to see of it, over real TLS, and what the browser reads. */
import assert from 'node:assert/strict';
import { createECDH } from 'node:crypto';
import { test } from 'node:test';
import { createNetwork, serveTls } from '../../support/notify/push-network.ts';
import { createAuthority } from '../../support/notify/push-authority.ts';
import { openPushFixture } from '../../support/notify/push-fixture.ts';
import { decryptedPush } from '../../support/notify/push-message.ts';
import { until } from '../../support/api-client.ts';
import { needs } from '../../support/tools.ts';

const NAME = 'push.example.com';
const AUTH = 'BTBZMqHH6r4Tts7J_aSIgg';

test('A push service gets a signed, encrypted message', { skip: needs('openssl') }, async (t) => {
  const authority = createAuthority(t);
  const network = createNetwork();
  const certificate = authority.certificate([NAME]);
  const got: Buffer[] = [];
  const port = await serveTls(
    t,
    () => certificate,
    (socket) => {
      socket.on('data', (bytes: Buffer) => {
        got.push(bytes);
        if (isWhole(Buffer.concat(got))) socket.end('HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n');
      });
    },
  );
  const fixture = await openPushFixture(t, { ...network, tls: { ca: [authority.ca] } });
  const browser = createECDH('prime256v1');
  const p256dh = browser.generateKeys().toString('base64url');
  const target = await fixture.endpoint(network.place(NAME, port), { p256dh, auth: AUTH });
  const page = await fixture.page();
  await until('it is sent', async () => (await fixture.delivery(page, target))?.state === 'sent');

  const { head, body } = parted(Buffer.concat(got));
  const authorization = /^authorization: vapid t=[\w-]+\.([\w-]+)\.[\w-]+, k=[\w-]{87}$/im.exec(head);
  const claims = JSON.parse(Buffer.from(authorization?.[1] ?? '', 'base64url').toString()) as { aud: string };
  assert.equal(claims.aud, `https://${NAME}`);
  assert.match(head, /^content-encoding: aes128gcm$/im);
  assert.match(head, /^ttl: 86400$/im);
  const read = JSON.parse(decryptedPush(body, browser.getPrivateKey('base64url'), AUTH)) as { title: string };
  assert.match(read.title, /^Test notification\b/);
  assert.ok(!body.includes(read.title), 'the push service reads the message');
});

function parted(bytes: Buffer): { head: string; body: Buffer } {
  const end = bytes.indexOf('\r\n\r\n');
  return { head: bytes.subarray(0, end).toString().replaceAll('\r', ''), body: bytes.subarray(end + 4) };
}

function isWhole(bytes: Buffer): boolean {
  if (!bytes.includes('\r\n\r\n')) return false;
  const { head, body } = parted(bytes);
  return body.length >= Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
}
