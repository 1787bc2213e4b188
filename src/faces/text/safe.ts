/**
 * Makes foreign text (job output, names, labels, messages) safe for a terminal: characters that control it, reorder
 * letters or are invisible are shown as escapes (T44). These are: controls (C0, C1, DEL), format characters
 * (bidi, zero width, tags), line and paragraph separators, and halves of surrogate pairs.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115F\u1160\u3164\uFFA0]/gu;
/** Most text has none of these characters and is returned unchanged. */
const PLAIN = /^[\x20-\x7e]*$/;

/** For a line or a cell: line breaks and tabs are shown as escapes too. */
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
