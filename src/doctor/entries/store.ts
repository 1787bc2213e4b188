import { fail, type Facts, type Finding, ok } from '../entry.ts';
import { plainReason } from '../reason.ts';

/** The number of faults that are named. */
const NAMED_MAX = 5;

/** Checks that the store is open, answers, and finds no fault in its files. */
export async function examineStore({ openedStore }: Facts): Promise<Finding> {
  try {
    const store = openedStore();
    const faults = await store.dialect.integrity(store.db);
    if (faults.length === 0) return ok(`${store.dialect.name}: answers, and its own check finds no fault.`);
    const more = faults.length > NAMED_MAX ? `; ${faults.length - NAMED_MAX} more` : '';
    return fail(`${store.dialect.name}: ${faults.slice(0, NAMED_MAX).join('; ')}${more}.`);
  } catch (error) {
    return fail(`The store cannot be used: ${plainReason(error)}.`);
  }
}
