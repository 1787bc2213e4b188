/** Lines of a terminal: how many columns a text takes, and where it is broken. */

/** Words are wrapped into at least this many columns. In fewer, the terminal wraps them itself. */
export const WRAP_MIN = 20;

/** The text in lines of whole words. A word that is wider stays whole, so that it can be copied. */
export function wrapped(text: string, width: number | null): readonly string[] {
  if (width === null || width < WRAP_MIN || widthOf(text) <= width) return [text];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const ASCII = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{Mn}\p{Me}]$/u;
/** Letters that take two columns on a terminal: East Asian wide and full-width ones, and most emoji. */
const TWO_WIDE = new RegExp(
  String.raw`^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6` +
    String.raw`\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$`,
  'u',
);

/** Columns that the text takes on a terminal. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const letter of text) width += NO_WIDTH.test(letter) ? 0 : TWO_WIDE.test(letter) ? 2 : 1;
  return width;
}
