/** A line of the file on which a text continues, and the offset in the text at which this line begins. */
export interface LineStart {
  readonly line: number;
  readonly offset: number;
}

/**
 * The offsets at which the lines of a multi-line text begin. `written` is the text as in the file, with its block
 * indicator or quotes; `line` is its first line. Null for a text on one line, and if escapes prevent a mapping between
 * the two.
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
