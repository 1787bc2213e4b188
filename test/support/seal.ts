import { createKeyring, type Keyring } from '../../src/lib/seal.ts';

/** A keyring for stores of tests that have no key file. */
export const TEST_RING = createKeyring([{ key: Buffer.alloc(32, 7), createdAt: null }]);

export const testKeyring = (): Promise<Keyring> => Promise.resolve(TEST_RING);

/** For a store that a test only reads. */
export const noKeyring = (): Promise<Keyring> => Promise.reject(new Error('this store is only read'));
