import { ruleFault } from '../domain/rule-fault.ts';
import { nextTurn } from '../lib/turns.ts';
import { listRules, ruleOf } from '../store/rules.ts';
import { type Facts, type Finding, ok, warn } from './entry.ts';
import { withStore } from './with-store.ts';

/** Rules that are named, each with a reason of a line or two. */
const NAMED_MAX = 5;

/** Stored rules that this version can not read, though the one that took them could: only their events would tell. */
export function examineRules({ openedStore }: Facts): Promise<Finding> {
  return withStore(openedStore, async ({ db }) => {
    const rules = (await listRules(db)).map(ruleOf);
    const faults: string[] = [];
    for (const rule of rules) {
      // Compiling takes a millisecond and more for each.
      await nextTurn();
      const fault = await ruleFault(rule);
      if (fault !== null) faults.push(`${rule.name} (${fault})`);
    }
    if (faults.length === 0) return ok(`Rules: ${rules.length}, all of them can be read.`);
    const more = faults.length > NAMED_MAX ? `; ${faults.length - NAMED_MAX} more` : '';
    return warn(
      `Rules: ${rules.length}, of which ${faults.length} can not be read by this version and act on nothing: ` +
        `${faults.slice(0, NAMED_MAX).join('; ')}${more}.`,
    );
  });
}
