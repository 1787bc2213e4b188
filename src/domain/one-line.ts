declare const oneLineMark: unique symbol;

/**
 * Text of one line that nothing in it can break, turn around or hide: what messages to people are made of, because
 * senders choose parts of them. Only `oneLine` makes one, so the compiler finds a message with text that did not pass
 * it.
 */
export type OneLine = string & { readonly [oneLineMark]: true };

/**
 * Control characters (among them the line breaks CR, LF, VT, FF, NEL), the line and paragraph separators, and format
 * characters (bidi controls, zero-width characters, tags). Joiners stay: letters and emoji are written with them.
 */
const NOT_SHOWN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/** As one line: each character that is not shown becomes a blank, and of several blanks one is kept. */
export function oneLine(text: string): OneLine {
  return text.toWellFormed().replaceAll(NOT_SHOWN, ' ').replaceAll(/\s+/g, ' ').trim() as OneLine;
}
