/** A store on each database with keys to seal with, and secrets in it. */
import { beforeEach } from 'node:test';
import { randomBytes } from '../../src/lib/random.ts';
import { createKeyring, type Keyring, type SealFileKey } from '../../src/lib/seal.ts';
import { readSecrets, type SecretName, setSecret } from '../../src/store/secrets.ts';
import type { Store } from '../../src/store/store.ts';
import { type EngineUnderTest, freshStore, type TestDatabase } from './kit.ts';

export const TOKEN: SecretName = { project: 'net', name: 'token' };

export function newKey(): SealFileKey {
  return { key: randomBytes(32), createdAt: 1_000 };
}

export interface SealedStore {
  readonly database: TestDatabase;
  readonly store: Store;
  readonly first: SealFileKey;
  readonly second: SealFileKey;
  /** Has the first key. */
  readonly ring: Keyring;
  /** Has both keys, and seals with the second. */
  readonly rotated: Keyring;
}

/** For the suite around the call: a store in which nothing is sealed, and new keys, before each test. */
export function sealedStore(engine: EngineUnderTest): SealedStore {
  const its = freshStore(engine);
  beforeEach(() => {
    const [first, second] = [newKey(), newKey()];
    Object.assign(its, { first, second, ring: createKeyring([first]), rotated: createKeyring([first, second]) });
  });
  return its as SealedStore;
}

export function set(store: Store, ring: Keyring, value: string, secret = TOKEN) {
  return store.write((tx) => setSecret(tx, ring, secret, Buffer.from(value)));
}

export async function valueOf(store: Store, ring: Keyring, ref: string): Promise<string> {
  return String((await readSecrets(store.db, ring, { x: ref })).get('x'));
}
