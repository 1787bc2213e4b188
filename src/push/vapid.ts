import { createECDH, createPrivateKey, hkdfSync, type KeyObject, sign } from 'node:crypto';

/**
 * The key by which push services know the sender of a browser's messages (VAPID, RFC 8292). A browser names it when it
 * subscribes, and its push service then takes messages only with a signature of that key.
 */
export interface VapidKey {
  /** The uncompressed point of P-256, base64url: the `applicationServerKey` of a subscription. */
  readonly publicKey: string;
  /**
   * The `Authorization` header for a message to this URL, valid from `now` (milliseconds since the epoch) on. `subject`
   * is a URL of the service, for the operator of the push service.
   */
  readonly authorization: (url: URL, subject: string, now: number) => string;
}

const CURVE = 'prime256v1';
/** How many points the curve has: a private key is a number below it, and not 0. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** 128 bits more than a key has, so that no key is likelier than another. */
const SEED_BYTES = 48;
/** RFC 8292 allows a day. A clock may be wrong by some hours. */
const VALID_SECONDS = 12 * 3_600;

/**
 * The key that belongs to a seal key: all daemons of a service have the same one, it needs no place in the store, and a
 * rotation of the seal keeps it.
 */
export function vapidKeyOf(sealKey: Uint8Array): VapidKey {
  const seed = Buffer.from(hkdfSync('sha256', sealKey, '', 'gatehouse vapid', SEED_BYTES)).toString('hex');
  const number = (BigInt(`0x${seed}`) % (ORDER - 1n)) + 1n;
  const d = Buffer.from(number.toString(16).padStart(64, '0'), 'hex');
  const pair = createECDH(CURVE);
  pair.setPrivateKey(d);
  const point = pair.getPublicKey();
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: base64url(d),
      x: base64url(point.subarray(1, 33)),
      y: base64url(point.subarray(33)),
    },
  });
  const publicKey = base64url(point);
  return {
    publicKey,
    authorization({ origin }, subject, now) {
      const exp = Math.floor(now / 1_000) + VALID_SECONDS;
      return `vapid t=${signedToken(key, { aud: origin, exp, sub: subject })}, k=${publicKey}`;
    },
  };
}

function signedToken(key: KeyObject, claims: object): string {
  const parts = [{ typ: 'JWT', alg: 'ES256' }, claims].map((part) => base64url(Buffer.from(JSON.stringify(part))));
  const signed = parts.join('.');
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${base64url(signature)}`;
}

function base64url(bytes: Buffer): string {
  return bytes.toString('base64url');
}
