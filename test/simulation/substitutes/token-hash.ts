import { createHmac } from 'node:crypto';
import type { TokenHasher } from '../../../src/operations/access/token-hash.ts';
import { theWorld } from '../world/current.ts';

const TAG_BYTES = 8;
const HASH_BYTES = 40;

/** A quick hash, which is answered when it is chosen: the real one takes a thread and 20 ms. */
export function createTokenHasher(sealKey: Buffer): TokenHasher {
  const keyed = (secret: string, salt: Uint8Array): Buffer =>
    createHmac('sha512', sealKey).update(salt).update(secret).digest().subarray(0, HASH_BYTES);
  const slowly = async (secret: string, salt: Uint8Array): Promise<Buffer> => {
    await theWorld().point('hash');
    return keyed(secret, salt);
  };
  return {
    hash: slowly,
    plausible: (secret, salt, stored) =>
      keyed(secret, salt).subarray(0, TAG_BYTES).equals(stored.subarray(0, TAG_BYTES)),
    matches: async (secret, salt, stored) => (await slowly(secret, salt)).equals(stored),
  };
}

export function hashToken(secret: string, salt: Uint8Array, sealKey: Buffer): Promise<Uint8Array> {
  return createTokenHasher(sealKey).hash(secret, salt);
}
