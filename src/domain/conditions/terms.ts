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

/** The offset of the closing quote of the text that begins at `from`. */
function endOfText(expression: string, from: number): number {
  const one = expression[from] ?? '';
  const quote = expression.startsWith(one.repeat(3), from) ? one.repeat(3) : one;
  // In a raw text, prefixed with r, a backslash is an ordinary character.
  const isRaw = /[rR]$/.test(expression.slice(Math.max(0, from - 2), from));
  for (let at = from + quote.length; at < expression.length; at += 1) {
    if (expression[at] === '\\' && !isRaw) at += 1;
    else if (expression.startsWith(quote, at)) return at + quote.length - 1;
  }
  return expression.length;
}

function endOfLine(expression: string, from: number): number {
  const end = expression.indexOf('\n', from);
  return end < 0 ? expression.length : end;
}
