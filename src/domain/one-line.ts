declare const oneLineMark: unique symbol;

/**
 * One line of text without characters that break, reverse or hide it. Notifications are made of it, because senders
 * choose parts of them. Only `oneLine` makes one, so the compiler finds a message with other text.
 */
export type OneLine = string & { readonly [oneLineMark]: true };

/**
 * Control characters (among them the line breaks CR, LF, VT, FF, NEL), the line and paragraph separators, and format
 * characters (bidi controls, zero-width characters, tags). Joiners are kept: letters and emoji need them.
 */
const NOT_SHOWN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/** As one line: each character that is not shown becomes a blank, and of several blanks one is kept. */
export function oneLine(text: string): OneLine {
  return text.toWellFormed().replaceAll(NOT_SHOWN, ' ').replaceAll(/\s+/g, ' ').trim() as OneLine;
}
