/** Splits a line as Ansible does with Python's shlex: quotes and backslashes as in a shell, `#` begins a comment. */
export function splitWords(text: string): { readonly words: readonly string[] } | { readonly fault: string } {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (quote !== null) {
      const next = text[at + 1];
      if (character === quote) quote = null;
      else if (character === '\\' && quote === '"' && (next === '"' || next === '\\')) {
        word = `${word ?? ''}${next}`;
        at += 1;
      } else word = `${word ?? ''}${character}`;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (character === '\\') {
      at += 1;
      if (at >= text.length) return { fault: 'a backslash at the end of the line escapes nothing' };
      word = `${word ?? ''}${text[at] ?? ''}`;
    } else if (character === '#') break;
    else if (/[ \t\r\n]/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = `${word ?? ''}${character}`;
  }
  if (quote !== null) return { fault: `the quote ${quote} is not closed` };
  if (word !== null) words.push(word);
  return { words };
}
