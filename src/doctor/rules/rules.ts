import { compileAction } from '../../domain/rules/fill.ts';
import { outdated, ruleFault } from '../../domain/rules/fault.ts';
import type { Rule } from '../../domain/rules/rule.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import { factsOf, newestOfRules } from '../../store/events/events.ts';
import { listRules, readableRule } from '../../store/rules/rules.ts';
import type { EventRow } from '../../store/schema/schema.ts';
import { type Facts, type Finding, named, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/** The number of rules that are named: each has to be rewritten by hand, and no other command lists them. */
const RULES_NAMED_MAX = 20;
/** The number of recent events whose values are tried on rules of an earlier build. */
const TRIED_EVENTS_MAX = 1_000;

/**
 * Reports stored rules that this version cannot read, and rules of an earlier build whose commands are out of date or
 * refuse values of a recent event. Otherwise only their events would show this.
 */
export function examineRules({ openedStore }: Facts): Promise<Finding> {
  return withStore(openedStore, async ({ db }) => {
    const rules = (await listRules(db)).map(readableRule);
    const earlier = rules
      .map(({ rule }) => rule)
      .filter(({ isEarlier }) => isEarlier === true)
      .map(({ name }) => name);
    const events = earlier.length === 0 ? [] : await newestOfRules(db, earlier, TRIED_EVENTS_MAX);
    const unreadable: string[] = [];
    const outdatedRules: string[] = [];
    for (const { rule, fault: unread } of rules) {
      // Compiling takes a millisecond or more a rule.
      await nextTurn();
      const fault = unread ?? (await ruleFault(rule));
      if (fault !== null) unreadable.push(`${rule.name} (${fault})`);
      else if (rule.isEarlier === true) {
        const reason = await outdatedForm(rule, events);
        if (reason !== null) outdatedRules.push(`${rule.name} (${reason})`);
      }
    }
    const read =
      unreadable.length === 0
        ? `Rules: ${rules.length}, all of them can be read.`
        : `Rules: ${rules.length}, of which ${unreadable.length} cannot be read ` +
          `by this version and act on nothing: ${named(unreadable, RULES_NAMED_MAX)}.`;
    if (outdatedRules.length === 0) return unreadable.length === 0 ? ok(read) : warn(read);
    const reasons = named(outdatedRules, RULES_NAMED_MAX);
    return warn(
      `${read} ${outdatedRules.length} of an earlier build may end events as errors: ${reasons}. ` +
        'Export each with svc rule export NAME, rewrite it as in docs/how-to/write-values-of-an-event.md, and run ' +
        'svc rule add --replace --file FILE.',
    );
  });
}

/** The reason must not contain a value of an event: only displays of events show those. */
async function outdatedForm(rule: Rule, events: readonly EventRow[]): Promise<string | null> {
  const fault = await outdated(rule.action);
  if (fault !== null) return fault;
  const action = await compileAction(rule.action, true);
  const refused = events.find((row) => row.rule === rule.name && 'error' in action.fill(factsOf(row, row.received_at)));
  return refused === undefined ? null : `a value of ${refused.id} is not accepted`;
}
