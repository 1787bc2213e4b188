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
  type SealKeyState,
  stampOf,
} from './seal-key.ts';
import { holdKeyFile } from './seal-lock.ts';

const KEY_BYTES = 32;

type Whole = Extract<SealKeyState, { readonly ok: true }>;

/**
 * Keeps the key file at `path`. `storeNeedsKey` as for `loadOrCreateSealKey`: true when the store holds what only a
 * lost key opens. Both functions throw invalid_argument that names the file, and rotating also unavailable while
 * another rotation holds it.
 */
export function createSealKeeper(path: string, storeNeedsKey: () => boolean | Promise<boolean>): SealKeeper {
  let cached: { readonly stamp: string; readonly ring: Keyring } | null = null;
  const keep = ({ stamp, keys }: Whole): Keyring => {
    cached = { stamp, ring: createKeyring(keys) };
    return cached.ring;
  };
  const load = async (): Promise<Keyring> => keep(await loadOrCreateSealKeys(path, storeNeedsKey));
  return {
    async keyring() {
      // Another process may have rotated: one look at the file costs less than what is done with the keys.
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
  };
}

/** `file` is what the link at `path` leads to, where it is one: the link itself stays. */
async function addKey(file: string, path: string): Promise<void> {
  const release = await holdKeyFile(file);
  try {
    const state = await readSealKey(file);
    if (!state.ok) throw refusal(path, state.reason);
    if (state.keys.length >= SEAL_KEYS_MAX) {
      throw new Failure(
        'conflict',
        `--seal-key-file: ${path} holds ${SEAL_KEYS_MAX} keys already, which is the most that it may.`,
      );
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
