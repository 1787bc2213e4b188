import { argon2, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/**
 * argon2id with 19 MiB, two passes and one lane, the least that OWASP recommends: about 20 ms of one core. The secret
 * has 256 random bits, so this is a second line; the first is that it cannot be guessed.
 */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const HASH_BYTES = 32;
/**
 * Enough that a guess does not reach the argon2id run, and 64 bits of a keyed hash tell nothing about 256 random bits.
 */
const TAG_BYTES = 8;
const KEY_BYTES = 32;

/**
 * Hashes the secret part of tokens. Both parts of the result depend on the seal key: a stolen database grants no
 * access.
 */
export interface TokenHasher {
  /** A tag of 8 bytes and the argon2id hash of 32 bytes, for the row of a new token. */
  hash(secret: string, salt: Uint8Array): Promise<Uint8Array>;
  /** Whether the secret may be the right one; costs microseconds, and turns a flood of wrong secrets away. */
  plausible(secret: string, salt: Uint8Array, stored: Uint8Array): boolean;
  /** Whether the secret is the right one; costs one argon2id run. */
  matches(secret: string, salt: Uint8Array, stored: Uint8Array): Promise<boolean>;
}

export function createTokenHasher(sealKey: Buffer): TokenHasher {
  const pepper = derive(sealKey, 'gatehouse token');
  const tagKey = derive(sealKey, 'gatehouse token tag');
  const tagOf = (secret: string, salt: Uint8Array): Buffer =>
    createHmac('sha256', tagKey).update(salt).update(secret).digest().subarray(0, TAG_BYTES);
  return {
    async hash(secret, salt) {
      return Buffer.concat([tagOf(secret, salt), await slowHash(secret, salt, pepper)]);
    },
    plausible: (secret, salt, stored) => sameBytes(tagOf(secret, salt), stored.subarray(0, TAG_BYTES)),
    matches: async (secret, salt, stored) =>
      sameBytes(await slowHash(secret, salt, pepper), stored.subarray(TAG_BYTES)),
  };
}

/** What the row of a new token keeps: 40 bytes. For programs that make tokens and check none. */
export function hashToken(secret: string, salt: Uint8Array, sealKey: Buffer): Promise<Uint8Array> {
  return createTokenHasher(sealKey).hash(secret, salt);
}

function derive(sealKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', sealKey, Buffer.alloc(0), purpose, KEY_BYTES));
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function slowHash(secret: string, salt: Uint8Array, pepper: Buffer): Promise<Buffer> {
  const parameters = {
    message: secret,
    nonce: salt,
    secret: pepper,
    memory: MEMORY_KIB,
    passes: PASSES,
    parallelism: LANES,
    tagLength: HASH_BYTES,
  };
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, hash) => {
      if (error === null) resolve(hash);
      else reject(error);
    });
  });
}
