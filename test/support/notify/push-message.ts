import assert from 'node:assert/strict';
import { createDecipheriv, createECDH, hkdfSync } from 'node:crypto';

/** What a browser reads of a message (RFC 8291, one record). `privateKey` and `auth` are its own, base64url. */
export function decryptedPush(message: Buffer, privateKey: string, auth: string): string {
  const receiver = createECDH('prime256v1');
  receiver.setPrivateKey(Buffer.from(privateKey, 'base64url'));
  const [salt, sender, record] = [message.subarray(0, 16), message.subarray(21, 86), message.subarray(86)];
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiver.getPublicKey(), sender]);
  const ikm = Buffer.from(hkdfSync('sha256', receiver.computeSecret(sender), Buffer.from(auth, 'base64url'), info, 32));
  const derive = (name: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', ikm, salt, `Content-Encoding: ${name}\0`, length));
  const cipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
  cipher.setAuthTag(record.subarray(-16));
  const plain = Buffer.concat([cipher.update(record.subarray(0, -16)), cipher.final()]);
  assert.equal(plain.at(-1), 2, 'the last record');
  return plain.subarray(0, -1).toString();
}
