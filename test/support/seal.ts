import { createKeyring, type Keyring } from '../../src/lib/seal.ts';
import { Adoption } from '../../src/store/engine/tags/adoption.ts';

/** A keyring for stores of tests that have no key file. */
export const TEST_RING = createKeyring([{ key: Buffer.alloc(32, 7), createdAt: null }]);

export const testKeyring = (): Promise<Keyring> => Promise.resolve(TEST_RING);

/** For a store that a test only reads. */
export const noKeyring = (): Promise<Keyring> => Promise.reject(new Error('this store is only read'));

/** Checks tags by these keys, where the rows of earlier builds have theirs. */
export const TAGGED_ALL = { ring: TEST_RING, adoption: new Adoption(() => Promise.resolve(true)) };
/** The same before that. */
export const TAGGED_FEW = { ring: TEST_RING, adoption: new Adoption(() => Promise.resolve(false)) };
