import { lintConstants } from './cel.ts';
import { CelRefused } from './cel-refused.ts';
import { word } from './cel-shape.ts';
import type { EventFacts } from './event.ts';
import { explain } from './rule-condition.ts';
import { checkRuleCel, eventContext } from './rule-facts.ts';

/** A text with `${…}` in it. `$${` stands for a `${` that is none. */
export interface Template {
  /** Its text where none of it comes from the event, else null. */
  readonly fixed: string | null;
  /** What stands before the first expression; empty where the event decides the first character. */
  readonly before: string;
  /** Never throws; an error is told without any value of the event. */
  fill(facts: EventFacts): { readonly text: string } | { readonly error: string };
}

type Part = { readonly literal: string } | { readonly expression: string };

/** Reads it and checks its expressions, each of which has to yield a text or a number. Throws CelRefused. */
export async function compileTemplate(source: string): Promise<Template> {
  const parts = partsOf(source);
  const pieces: ((facts: EventFacts) => { text: string } | { error: string })[] = [];
  for (const part of parts) {
    if ('literal' in part) {
      const told = { text: part.literal };
      pieces.push(() => told);
    } else pieces.push(await compileExpression(part.expression));
  }
  const [first] = parts;
  return {
    fixed: parts.length === 1 && first !== undefined && 'literal' in first ? first.literal : null,
    before: first !== undefined && 'literal' in first ? first.literal : '',
    fill(facts) {
      let text = '';
      for (const piece of pieces) {
        const filled = piece(facts);
        if ('error' in filled) return filled;
        text += filled.text;
      }
      return { text };
    },
  };
}

/** Refuses what its expressions do with constants alone; for one that is being defined, behind compileTemplate. Throws CelRefused. */
export async function lintTemplate(source: string): Promise<void> {
  for (const part of partsOf(source)) if ('expression' in part) await lintConstants(part.expression);
}

async function compileExpression(
  expression: string,
): Promise<(facts: EventFacts) => { text: string } | { error: string }> {
  const checked = await checkRuleCel(expression);
  const { kind } = checked.shape;
  if (kind !== 'text' && kind !== 'number')
    throw new CelRefused(`\${…} must yield a text or a number; it yields ${word(checked.shape)}`);
  return (facts) => {
    const outcome = checked.run(eventContext(facts));
    if ('error' in outcome) return { error: explain(outcome, facts, checked.expr) };
    const text = String(outcome.value);
    // Neither can reach another program unchanged: NUL ends an argument, half a pair has no UTF-8.
    if (text.includes('\0') || !text.isWellFormed())
      return { error: 'it yields a character that no program can be given' };
    return { text };
  };
}

function partsOf(source: string): Part[] {
  const parts: Part[] = [];
  let literal = '';
  let at = 0;
  while (at < source.length) {
    if (source.startsWith('$${', at)) {
      literal += '${';
      at += 3;
    } else if (source.startsWith('${', at)) {
      const end = endOf(source, at + 2);
      if (literal !== '') parts.push({ literal });
      literal = '';
      parts.push({ expression: source.slice(at + 2, end) });
      at = end + 1;
    } else {
      literal += source[at] ?? '';
      at += 1;
    }
  }
  if (literal !== '' || parts.length === 0) parts.push({ literal });
  return parts;
}

/** Where the expression that begins at `from` ends: at the brace that is neither in a text nor closes one of its own. */
function endOf(source: string, from: number): number {
  let depth = 0;
  for (let at = from; at < source.length; at += 1) {
    const character = source[at];
    if (character === '"' || character === "'") at = endOfText(source, at, character);
    else if (character === '{') depth += 1;
    else if (character === '}' && depth === 0) return at;
    else if (character === '}') depth -= 1;
  }
  throw new CelRefused('"${" has no "}" that closes it; write $${ where none is meant');
}

/** Where a text that begins at `from` has its last quote; a raw text (`r"…"`) knows no escapes. */
function endOfText(source: string, from: number, quote: string): number {
  const mark = source.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote;
  const isRaw = /(?:^|[^\w])[bB]?[rR][bB]?$/.test(source.slice(Math.max(0, from - 3), from));
  let at = from + mark.length;
  while (at < source.length && !source.startsWith(mark, at)) at += source[at] === '\\' && !isRaw ? 2 : 1;
  return Math.min(at + mark.length - 1, source.length - 1);
}
