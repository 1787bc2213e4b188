import { readSealKey } from '../config/seal-key.ts';
import { countActiveTokens } from '../store/tokens.ts';
import { fail, type Facts, type Finding, ok, warn } from './entry.ts';

/** The seal key is there, whole, ours and closed to others. Its content never enters the report. */
export async function examineSeal(facts: Facts): Promise<Finding> {
  const { settings, paths } = facts;
  const place = settings.sealKeyFile === null ? 'in the data directory' : 'where --seal-key-file names it';
  const state = await readSealKey(settings.sealKeyFile ?? paths.sealKey);
  if (state.ok) return ok(`Present ${place}, mode ${state.mode}, valid.`);
  if (state.fault !== 'missing') return fail(`The seal key ${place} ${state.reason}.`);
  if (await isNeeded(facts)) return fail(`The seal key ${place} is missing: tokens can not be verified without it.`);
  return warn(`There is no seal key ${place} yet: the first start makes it.`);
}

/** When nobody can say whether tokens wait for the key, they might. */
async function isNeeded({ clock, openedStore }: Facts): Promise<boolean> {
  try {
    return (await countActiveTokens(openedStore().db, clock.now())) > 0;
  } catch {
    return true;
  }
}
