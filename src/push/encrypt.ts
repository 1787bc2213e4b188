import { createCipheriv, createECDH, type ECDH, ECDH as Ecdh, hkdfSync } from 'node:crypto';
import { Failure } from '../domain/failure.ts';
import { randomBytes } from '../lib/random.ts';

/** The public key and the secret of a subscription, base64url, as browsers hand them out. */
export interface PushKeys {
  readonly p256dh: string;
  readonly auth: string;
}

interface KeyBytes {
  readonly publicKey: Buffer;
  readonly secret: Buffer;
}

const CURVE = 'prime256v1';
/** One record holds the whole message, which is shorter than this. */
const RECORD_SIZE = 4_096;
/** Marks the last record of a message. */
const LAST = 2;

/** Reads the keys; throws invalid_argument unless they are a point of P-256 and 16 bytes. */
export function readPushKeys(keys: PushKeys): KeyBytes {
  const publicKey = bytesOf('keys.p256dh', keys.p256dh, 65);
  try {
    Ecdh.convertKey(publicKey, CURVE);
  } catch {
    throw new Failure('invalid_argument', 'keys.p256dh: expected an uncompressed public key of P-256.');
  }
  return { publicKey, secret: bytesOf('keys.auth', keys.auth, 16) };
}

function bytesOf(field: string, text: string, length: number): Buffer {
  const bytes = /^[A-Za-z0-9_-]+=*$/.test(text) ? Buffer.from(text, 'base64url') : Buffer.alloc(0);
  if (bytes.length !== length)
    throw new Failure('invalid_argument', `${field}: expected ${length} bytes in base64url.`);
  return bytes;
}

/** Fixed by tests; otherwise both are generated for each message. */
interface Chance {
  readonly salt: Buffer;
  readonly sender: ECDH;
}

function newChance(): Chance {
  const sender = createECDH(CURVE);
  sender.generateKeys();
  return { salt: randomBytes(16), sender };
}

/** Encrypts a message as in RFC 8291: content coding aes128gcm, one record, with the sender's key in the header. */
export function encryptPush(keys: PushKeys, text: string, { salt, sender }: Chance = newChance()): Buffer {
  const { publicKey, secret } = readPushKeys(keys);
  const own = sender.getPublicKey();
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, own]);
  const ikm = Buffer.from(hkdfSync('sha256', sender.computeSecret(publicKey), secret, info, 32));
  const key = Buffer.from(hkdfSync('sha256', ikm, salt, 'Content-Encoding: aes128gcm\0', 16));
  const nonce = Buffer.from(hkdfSync('sha256', ikm, salt, 'Content-Encoding: nonce\0', 12));
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const record = Buffer.concat([
    cipher.update(text, 'utf8'),
    cipher.update(Buffer.from([LAST])),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  const head = Buffer.alloc(21);
  salt.copy(head);
  head.writeUInt32BE(RECORD_SIZE, 16);
  head.writeUInt8(own.length, 20);
  return Buffer.concat([head, own, record]);
}
