/** The line of the file on which a text goes on, and the character of the text that this line begins with. */
export interface LineStart {
  readonly line: number;
  readonly offset: number;
}

/**
 * Where a text that stands on several lines of the file begins each of them. `written` is the text as the file has it,
 * with the mark of a block or the quotes; `line` is its first line. Null where it stands on one line, and where escapes
 * keep the two from being laid beside each other.
 */
export function lineStarts(written: string, text: string, line: number): readonly LineStart[] | null {
  const rows = written.trimEnd().split('\n');
  if (rows.length < 2) return null;
  const isBlock = /^[|>]/.test(written);
  const isQuoted = /^["']/.test(written);
  const starts: LineStart[] = [];
  let offset = 0;
  for (const [index, row] of rows.entries()) {
    if (isBlock && index === 0) continue;
    const opened = isQuoted && index === 0 ? row.slice(1) : row;
    const part = (isQuoted && index === rows.length - 1 ? opened.slice(0, -1) : opened).trim();
    if (part === '') continue;
    while (/\s/.test(text[offset] ?? '')) offset += 1;
    if (!text.startsWith(part, offset)) return null;
    starts.push({ line: line + index, offset });
    offset += part.length;
  }
  return starts;
}
