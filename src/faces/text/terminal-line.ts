import { lastWritten, SEQUENCE } from './ansi.ts';
import { block } from './safe.ts';

const END = '\u001b[0m';

/** Colours of a palette or in parts, whose numbers would be read as other codes. */
const OTHER_COLOURS = /[34]8[;:](?:5[;:]\d+|2(?:[;:]\d*){3,4})/g;

/** Weights and the colours that a terminal shows on light and on dark: none that can hide a text (T44). */
const DRAWN = /^(?:0?|[1-4]|2[2-4]|39|[39][1-6])$/;

/**
 * A line of output, safe for a terminal: of what it rewrites the last state, with its colours where they are drawn, and
 * without other sequences. What is drawn ends with the line.
 */
export function terminalLine(line: string, isDrawn: boolean): string {
  const text = lastWritten(line);
  let [shown, at, isOpen] = ['', 0, false];
  for (const match of text.matchAll(SEQUENCE)) {
    const [all, codes = '', name] = match;
    const drawn = isDrawn && name === 'm' ? drawnOf(codes) : null;
    shown += block(text.slice(at, match.index)) + (drawn ?? '');
    at = match.index + all.length;
    isOpen ||= drawn !== null;
  }
  return `${shown}${block(text.slice(at))}${isOpen ? END : ''}`;
}

function drawnOf(codes: string): string | null {
  const drawn = codes
    .replaceAll(OTHER_COLOURS, 'x')
    .split(/[;:]/)
    .filter((code) => DRAWN.test(code));
  return drawn.length === 0 ? null : `\u001b[${drawn.join(';')}m`;
}
