/**
 * Text from elsewhere (job output, names, labels, messages) on its way to a terminal: what would steer it, reorder
 * its letters or be seen by nobody is shown as an escape (T44). That is: controls (C0, C1, DEL), format characters
 * (bidi, zero width, tags), line and paragraph separators, and halves of surrogate pairs.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115F\u1160\u3164\uFFA0]/gu;
/** Most text has none of it, and is not looked at twice. */
const PLAIN = /^[\x20-\x7e]*$/;

/** One line or one cell: a line break and a tab are shown as escapes too. */
export function inline(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(UNSEEN, escape);
}

/** A block of text that keeps its lines and tabs. */
export function block(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll(UNSEEN, (character) =>
    character === '\n' || character === '\t' ? character : escape(character),
  );
}

/** A block and its line end. */
export function line(text: string): string {
  return PLAIN.test(text) ? `${text}\n` : `${block(text)}\n`;
}

function escape(character: string): string {
  if (character === '\n') return String.raw`\n`;
  if (character === '\t') return String.raw`\t`;
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
