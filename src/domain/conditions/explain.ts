import { CelRefused } from '../cel/refused.ts';
import type { EventFacts, RuleTerm } from '../events/event.ts';
import { compileCondition, type Condition } from './condition.ts';
import { textReads } from './reads.ts';
import { splitTerms } from './terms.ts';

/** More terms than this are not listed one by one: the list would be too long to read. */
const TERMS_MAX = 20;
/** Shown characters of a text that a term read. */
const SHOWN_CHARACTERS = 100;

/**
 * The terms that an expression joins by `&&`, each evaluated on the event alone: the first TERMS_MAX, then the first
 * false one, else the first one with an error, if it is not among them. A refused term is listed as an error.
 */
export async function explainTerms(when: string, facts: EventFacts): Promise<RuleTerm[]> {
  const terms: RuleTerm[] = [];
  for (const term of splitTerms(when)) terms.push(await explainTerm(term, facts));
  const listed = terms.slice(0, TERMS_MAX);
  const deciding = terms.find(({ result }) => result === 'false') ?? terms.find(({ result }) => result === 'error');
  return deciding === undefined || listed.includes(deciding) ? listed : [...listed, deciding];
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
  const values = [...new Set(reads)];
  return { term, result: 'false', why: values.length === 0 ? null : values.join(', ') };
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
