/**
 * Output of tools as texts with classes: colours and weights become classes; other sequences of a terminal are left
 * out. Pages and their script share it; a terminal draws its own: `terminal-line.ts`.
 */

/** A part of a line. Its classes are separated by spaces; empty without any. */
export interface Span {
  readonly text: string;
  readonly classes: string;
}

const ESC = '\u001b';
const BEL = '\u0007';

/**
 * Sequences that have their end: CSI, of which only `m` (select graphic rendition) has a meaning here, OSC, DCS and
 * choices of characters. Any other escape is shown.
 */
export const SEQUENCE = new RegExp(
  String.raw`${ESC}(?:\[([0-?]*)[ -/]*([@-~])|[\]P][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\)|[()][0-9A-Za-z])`,
  'g',
);

const ATTRIBUTES: Readonly<Record<number, string>> = { 1: 'b', 2: 'd', 3: 'i', 4: 'u' };

/** Foreground colours of a terminal, by their number from 0 to 7. */
const HUES = ['', 'fail', 'ok', 'warn', 'run', 'wait', 'run', ''] as const;

/** Of a line that was written over, such as a progress bar, the last text is shown. */
export function lastWritten(line: string): string {
  const text = line.replace(/\r+$/, '');
  return text.slice(text.lastIndexOf('\r') + 1);
}

/** Not yet safe to show: what is no sequence is as it was printed. */
export function ansiSpans(line: string): Span[] {
  const text = lastWritten(line);
  if (!text.includes(ESC)) return [{ text, classes: '' }];
  const spans: Span[] = [];
  const style = { hue: '', attributes: new Set<string>() };
  let at = 0;
  for (const match of text.matchAll(SEQUENCE)) {
    spans.push(dressed(text.slice(at, match.index), style));
    at = match.index + match[0].length;
    if (match[2] === 'm') select((match[1] ?? '').split(/[;:]/).map(Number), style);
  }
  spans.push(dressed(text.slice(at), style));
  return spans.filter((span) => span.text !== '');
}

interface Style {
  hue: string;
  readonly attributes: Set<string>;
}

function select(codes: readonly number[], style: Style): void {
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i] ?? 0;
    if (code === 0) {
      style.hue = '';
      style.attributes.clear();
    } else if (ATTRIBUTES[code] !== undefined) style.attributes.add(ATTRIBUTES[code]);
    else if (code === 22) for (const each of ['b', 'd']) style.attributes.delete(each);
    else if (code === 23) style.attributes.delete('i');
    else if (code === 24) style.attributes.delete('u');
    else if (code === 39) style.hue = '';
    else if (code >= 30 && code <= 37) style.hue = HUES[code - 30] ?? '';
    else if (code >= 90 && code <= 97) style.hue = HUES[code - 90] ?? '';
    // A colour of a palette or in parts: its numbers are skipped.
    else if (code === 38 || code === 48) i += codes[i + 1] === 5 ? 2 : codes[i + 1] === 2 ? 4 : 0;
  }
}

function dressed(text: string, { hue, attributes }: Style): Span {
  return { text, classes: [...(hue === '' ? [] : [`c-${hue}`]), ...attributes].join(' ') };
}
