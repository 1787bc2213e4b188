import { CelRefused } from '../cel/refused.ts';
import type { EventFacts, RuleTerm } from '../events/event.ts';
import { compileCondition, type Condition } from './condition.ts';
import { textReads } from './reads.ts';
import { splitTerms } from './terms.ts';

/** More terms than these are not told one by one: they would be a page of their own. */
const TERMS_MAX = 20;
/** Of a text that a term read, what is shown. */
const SHOWN_CHARACTERS = 100;

/**
 * The terms that an expression joins by `&&`, each tried on the event by itself: the first TERMS_MAX, and behind them
 * the first one that is false, else the first one with an error, where it is none of those. One that is refused is told
 * as an error.
 */
export async function explainTerms(when: string, facts: EventFacts): Promise<RuleTerm[]> {
  const terms: RuleTerm[] = [];
  for (const term of splitTerms(when)) terms.push(await explainTerm(term, facts));
  const told = terms.slice(0, TERMS_MAX);
  const deciding = terms.find(({ result }) => result === 'false') ?? terms.find(({ result }) => result === 'error');
  return deciding === undefined || told.includes(deciding) ? told : [...told, deciding];
}

async function explainTerm(term: string, facts: EventFacts): Promise<RuleTerm> {
  const condition = await compiled(term);
  if ('error' in condition) return { term, result: 'error', why: condition.error };
  const answer = condition.evaluate(facts);
  if ('error' in answer) return { term, result: 'error', why: answer.error };
  if (answer.value) return { term, result: 'true', why: null };
  const reads = textReads(condition.expr).map(
    ({ path, textIn, isSet }) => `${path} is ${isSet(facts) ? JSON.stringify(shortened(textIn(facts))) : '(not set)'}`,
  );
  const told = [...new Set(reads)];
  return { term, result: 'false', why: told.length === 0 ? null : told.join(', ') };
}

async function compiled(term: string): Promise<Condition | { readonly error: string }> {
  try {
    return await compileCondition(term);
  } catch (thrown) {
    if (thrown instanceof CelRefused) return { error: thrown.message };
    throw thrown;
  }
}

function shortened(text: string): string {
  const letters = Array.from(text);
  return letters.length <= SHOWN_CHARACTERS ? text : `${letters.slice(0, SHOWN_CHARACTERS).join('')}…`;
}
