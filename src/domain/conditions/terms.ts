/** What opens and closes a nesting. */
const OPEN = '([{';
const CLOSE = ')]}';

/**
 * The terms that an expression joins by `&&`, in their order. An expression with another operator at its top (`||`,
 * `?:`) is one term. The text was checked before: its quotes and brackets match.
 */
export function splitTerms(expression: string): readonly string[] {
  const terms: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < expression.length; at += 1) {
    const character = expression[at] ?? '';
    if (character === '"' || character === "'") at = endOfText(expression, at);
    else if (expression.startsWith('//', at)) at = endOfLine(expression, at);
    else if (OPEN.includes(character)) depth += 1;
    else if (CLOSE.includes(character)) depth -= 1;
    else if (depth > 0) continue;
    else if (expression.startsWith('||', at) || character === '?') return [expression.trim()];
    else if (expression.startsWith('&&', at)) {
      terms.push(expression.slice(start, at).trim());
      at += 1;
      start = at + 1;
    }
  }
  return [...terms, expression.slice(start).trim()];
}

/** The offset of the closing quote of the text that begins at `from`; a raw text (`r"…"`) has no escapes. */
export function endOfText(source: string, from: number): number {
  const quote = source[from] ?? '';
  const mark = source.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote;
  const isRaw = /(?:^|[^\w])[bB]?[rR][bB]?$/.test(source.slice(Math.max(0, from - 3), from));
  let at = from + mark.length;
  while (at < source.length && !source.startsWith(mark, at)) at += source[at] === '\\' && !isRaw ? 2 : 1;
  return Math.min(at + mark.length - 1, source.length - 1);
}

function endOfLine(expression: string, from: number): number {
  const end = expression.indexOf('\n', from);
  return end < 0 ? expression.length : end;
}
