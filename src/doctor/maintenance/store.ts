import { fail, type Facts, type Finding, named, ok } from '../entry.ts';
import { plainReason } from '../reason.ts';

/** Checks that the store is open, answers, and finds no fault in its files. */
export async function examineStore({ openedStore }: Facts): Promise<Finding> {
  try {
    const store = openedStore();
    const faults = await store.dialect.integrity(store.db);
    if (faults.length === 0) return ok(`${store.dialect.name}: answers, and its own check finds no fault.`);
    return fail(`${store.dialect.name}: ${named(faults)}.`);
  } catch (error) {
    return fail(`The store cannot be used: ${plainReason(error)}.`);
  }
}
