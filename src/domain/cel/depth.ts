/**
 * Highest nesting of brackets. The parser tries several readings of each bracket, so its time grows with the cube of
 * the depth: 500 levels took 1.2 s, 60 take 4 ms. Real expressions have fewer than ten.
 */
export const CEL_DEPTH_MAX = 60;

/** Texts and comments, whose brackets do not count: raw texts have no escapes. Each alternative is linear. */
const NO_BRACKETS = new RegExp(
  [
    String.raw`[rR][bB]?(?:"""[^]*?"""|'''[^]*?'''|"[^"\n]*"|'[^'\n]*')`,
    String.raw`"""(?:\\[^]|[^\\])*?"""`,
    String.raw`'''(?:\\[^]|[^\\])*?'''`,
    String.raw`"(?:\\.|[^"\\\n])*"`,
    String.raw`'(?:\\.|[^'\\\n])*'`,
    String.raw`//[^\n]*`,
  ].join('|'),
  'g',
);

/** Whether the brackets of an expression are nested deeper than that; also of a text that is no expression. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const character of text.replaceAll(NO_BRACKETS, ' ')) {
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth = Math.max(0, depth - 1);
    if (depth > CEL_DEPTH_MAX) return true;
  }
  return false;
}
