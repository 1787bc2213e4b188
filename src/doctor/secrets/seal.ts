import { readSealKey } from '../../config/seal-key.ts';
import { createKeyring, type Keyring } from '../../lib/seal.ts';
import { countSealed, type SealCounts } from '../../store/secrets/seal.ts';
import { countActiveTokens } from '../../store/access/tokens.ts';
import { fail, type Facts, type Finding, ok, warn } from '../entry.ts';

/**
 * Checks that the seal key exists, is intact, ours and closed to others, and opens all sealed data. Its content never
 * enters the report.
 */
export async function examineSeal(facts: Facts): Promise<Finding> {
  const { settings, paths } = facts;
  const place = settings.sealKeyFile === null ? 'in the data directory' : 'at --seal-key-file';
  const state = await readSealKey(settings.sealKeyFile ?? paths.sealKey);
  if (state.ok) return examineSealed(facts, createKeyring(state.keys), `Present ${place}, mode ${state.mode}, valid`);
  if (state.fault !== 'missing') return fail(`The seal key ${place} ${state.reason}.`);
  const needs = await whatNeedsIt(facts);
  if (needs !== null) return fail(`The seal key ${place} is missing: ${needs} without it.`);
  return warn(`There is no seal key ${place} yet: the first start creates it.`);
}

/** The entry `store` reports a store that cannot be opened. */
async function examineSealed({ openedStore }: Facts, ring: Keyring, file: string): Promise<Finding> {
  const key = `${file}; key ${ring.activeId}`;
  let counts: SealCounts;
  try {
    counts = await countSealed(openedStore().db, ring);
  } catch {
    return ok(`${key}.`);
  }
  const { total, foreign, old, used, usedIsForeign } = counts;
  if (foreign > 0)
    return fail(
      `${key}. ${foreign} of ${items(total)} cannot be opened with it: restore the key file that sealed them.`,
    );
  if (usedIsForeign)
    return fail(
      `${key}. The daemons of this store seal with key ${used?.key_id ?? 'unknown'}, which is not in this file: ` +
        'copy their key file.',
    );
  if (old > 0) return warn(`${key}. ${old} of ${items(total)} still under an older key: run svc seal rotate.`);
  return ok(`${key}, ${items(total)}.`);
}

function items(count: number): string {
  return `${count} sealed ${count === 1 ? 'item' : 'items'}`;
}

/** If the store cannot say what needs the key, assume that something does. */
async function whatNeedsIt({ clock, openedStore }: Facts): Promise<string | null> {
  const tokens = 'tokens cannot be verified';
  try {
    const { db } = openedStore();
    const { total } = await countSealed(db, null);
    const active = await countActiveTokens(db, clock.now());
    const needs = [...(active > 0 ? [tokens] : []), ...(total > 0 ? [`${items(total)} cannot be opened`] : [])];
    return needs.length === 0 ? null : needs.join(' and ');
  } catch {
    return tokens;
  }
}
