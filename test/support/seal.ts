import { createKeyring, type Keyring } from '../../src/lib/seal.ts';
import { Adoption } from '../../src/store/engine/tags/adoption.ts';
import type { TagContext } from '../../src/store/engine/tags/tags.ts';

/** A keyring for stores of tests that have no key file. */
export const TEST_RING = createKeyring([{ key: Buffer.alloc(32, 7), createdAt: null }]);

export const testKeyring = (): Promise<Keyring> => Promise.resolve(TEST_RING);

/** For a store that a test only reads. */
export const noKeyring = (): Promise<Keyring> => Promise.reject(new Error('this store is only read'));

/** Checks tags by these keys, where the rows of earlier builds have theirs. */
export const TAGGED_ALL = tagContext(true);
/** The same before that. */
export const TAGGED_FEW = tagContext(false);

function tagContext(isOver: boolean): TagContext {
  return { ringWith: () => TEST_RING, adoption: new Adoption(() => Promise.resolve(isOver)) };
}
