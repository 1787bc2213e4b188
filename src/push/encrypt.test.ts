import assert from 'node:assert/strict';
import { createECDH } from 'node:crypto';
import { test } from 'node:test';
import { decryptedPush } from '../../test/support/notify/push-message.ts';
import { encryptPush, readPushKeys } from './encrypt.ts';

/** Appendix A of RFC 8291. */
const RFC = {
  text: 'When I grow up, I want to be a watermelon',
  senderPrivate: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  receiverPrivate: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  message:
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w' +
    'EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
};

test("A message is encrypted to the bytes of RFC 8291's own example", () => {
  const sender = createECDH('prime256v1');
  sender.setPrivateKey(Buffer.from(RFC.senderPrivate, 'base64url'));
  const message = encryptPush(RFC, RFC.text, { salt: Buffer.from(RFC.salt, 'base64url'), sender });
  assert.equal(message.toString('base64url'), RFC.message);
});

test('Two messages of one text have nothing in common, and the receiver reads both', () => {
  const messages = [encryptPush(RFC, 'ä page'), encryptPush(RFC, 'ä page')];
  assert.notDeepEqual(messages[0]!.subarray(0, 16), messages[1]!.subarray(0, 16));
  const read = messages.map((message) => decryptedPush(message, RFC.receiverPrivate, RFC.auth));
  assert.deepEqual(read, ['ä page', 'ä page']);
});

test('An invalid key is refused with its name', () => {
  for (const p256dh of ['', 'AAAA', 'B'.repeat(87), 'a b', `${RFC.p256dh}AAAA`])
    assert.throws(() => readPushKeys({ ...RFC, p256dh }), /^Failure: keys\.p256dh: expected /);
  for (const auth of ['', 'AAAA', `${RFC.auth}AAAA`])
    assert.throws(() => readPushKeys({ ...RFC, auth }), /^Failure: keys\.auth: expected 16 bytes/);
});
