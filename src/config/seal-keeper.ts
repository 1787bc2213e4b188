import { realpath, stat } from 'node:fs/promises';
import { Failure } from '../domain/failure.ts';
import { writeFileAtomic } from '../lib/atomic-file.ts';
import { systemClock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { randomBytes } from '../lib/random.ts';
import { createKeyring, type Keyring, type SealKeeper } from '../lib/seal.ts';
import { PRIVATE_FILE_MODE } from './data-dir.ts';
import {
  appendSealKey,
  loadOrCreateSealKeys,
  readSealKey,
  refusal,
  SEAL_KEYS_MAX,
  type SealKeys,
  stampOf,
} from './seal-key.ts';
import { holdKeyFile } from './seal-lock.ts';

const KEY_BYTES = 32;

/**
 * Manages the key file at `path`. `storeNeedsKey` as for `loadOrCreateSealKey`: true when the store holds data that
 * only a lost key opens. Both functions throw invalid_argument that names the file; a rotation also throws unavailable
 * while another one holds the lock.
 */
export function createSealKeeper(path: string, storeNeedsKey: () => boolean | Promise<boolean>): SealKeeper {
  let cached: { readonly stamp: string; readonly ring: Keyring } | null = null;
  const keep = ({ stamp, keys }: SealKeys): Keyring => {
    cached = { stamp, ring: createKeyring(keys) };
    return cached.ring;
  };
  const load = async (): Promise<Keyring> => keep(await loadOrCreateSealKeys(path, storeNeedsKey));
  return {
    async keyring() {
      // Another process may have rotated the key; a stat of the file is cheap compared with the use of a key.
      if (cached !== null && cached.stamp === (await stampAt(path))) return cached.ring;
      return load();
    },
    async find() {
      const state = await readSealKey(path);
      if (state.ok) return keep(state);
      if (state.fault === 'missing') return null;
      throw refusal(path, state.reason);
    },
    async rotate() {
      await load();
      try {
        await addKey(await realpath(path), path);
      } catch (error) {
        if (error instanceof Failure) throw error;
        throw refusal(path, `cannot be written (${errorCode(error) ?? 'unknown error'})`);
      }
      return load();
    },
    async text() {
      const state = await readSealKey(path);
      if (!state.ok) throw refusal(path, state.reason);
      return state.text;
    },
  };
}

/** `file` is the target of `path` if that is a link, so that the link itself stays. */
async function addKey(file: string, path: string): Promise<void> {
  const release = await holdKeyFile(file);
  try {
    const state = await readSealKey(file);
    if (!state.ok) throw refusal(path, state.reason);
    if (state.keys.length >= SEAL_KEYS_MAX) {
      throw new Failure('conflict', `--seal-key-file: ${path} already holds ${SEAL_KEYS_MAX} keys, the maximum.`);
    }
    const text = appendSealKey(state.text, { key: randomBytes(KEY_BYTES), createdAt: systemClock.now() });
    await writeFileAtomic(file, text, PRIVATE_FILE_MODE);
  } finally {
    await release();
  }
}

async function stampAt(path: string): Promise<string | null> {
  try {
    return stampOf(await stat(path, { bigint: true }));
  } catch {
    return null;
  }
}
