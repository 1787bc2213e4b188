import type { EventFacts, RuleTerm } from './event.ts';
import { compileCondition } from './rule-condition.ts';
import { textReads } from './rule-reads.ts';
import { splitTerms } from './rule-terms.ts';

/** More terms than these are not told one by one. */
const TERMS_MAX = 20;
/** Of a text that a term read, what is shown. */
const SHOWN_CHARACTERS = 100;

/**
 * The terms that an expression joins by `&&`, each tried on the event by itself. Empty where a term can not be read
 * alone: its macro's variable stands elsewhere.
 */
export async function explainTerms(when: string, facts: EventFacts): Promise<RuleTerm[]> {
  const terms: RuleTerm[] = [];
  for (const term of splitTerms(when).slice(0, TERMS_MAX)) {
    try {
      terms.push(await explainTerm(term, facts));
    } catch {
      return [];
    }
  }
  return terms;
}

async function explainTerm(term: string, facts: EventFacts): Promise<RuleTerm> {
  const condition = await compileCondition(term);
  const answer = condition.evaluate(facts);
  if ('error' in answer) return { term, result: 'error', why: answer.error };
  if (answer.value) return { term, result: 'true', why: null };
  const read = new Map(textReads(condition.expr).map(({ path, textIn }) => [path, textIn(facts)]));
  const told = [...read].flatMap(([path, text]) => (text === undefined ? [] : [`${path} is ${JSON.stringify(shortened(text))}`]));
  return { term, result: 'false', why: told.length === 0 ? null : told.join(', ') };
}

function shortened(text: string): string {
  const letters = Array.from(text);
  return letters.length <= SHOWN_CHARACTERS ? text : `${letters.slice(0, SHOWN_CHARACTERS).join('')}…`;
}
