/** States as shape, word and colour: the shape and the word alone are enough. */
import { html, Html } from '../html/html.ts';
import type { Paint } from '../text/display.ts';

/** A colour of the style sheet, by what a terminal uses. */
export const HUES: Readonly<Record<Paint, string>> = {
  green: 'ok',
  red: 'fail',
  yellow: 'warn',
  magenta: 'wait',
  cyan: 'run',
  blue: 'idle',
  dim: 'idle',
  bold: 'ink',
};

/** Paths in a square of 16 by 16, drawn with a line of 2. */
const SHAPES = {
  ring: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11',
  dotted: 'M8 2.5h.01M12 4.2h.01M13.5 8h.01M12 11.8h.01M8 13.5h.01M4 11.8h.01M2.5 8h.01M4 4.2h.01',
  gap: 'M8 2.5a5.5 5.5 0 1 1-5.5 5.5',
  slash: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M4.2 11.8l7.6-7.6',
  broken: 'M5 3.4a5.5 5.5 0 0 0 0 9.2M11 3.4a5.5 5.5 0 0 1 0 9.2',
  check: 'M2.5 8.5l3.5 4l7.5-9',
  cross: 'M5.5 2h5l3.5 3.5v5l-3.5 3.5h-5l-3.5-3.5v-5zM6 6l4 4M10 6l-4 4',
  triangle: 'M8 2l6.5 12h-13zM8 7v3M8 12v.01',
  diamond: 'M8 1.5l6.5 6.5l-6.5 6.5l-6.5-6.5zM8 5v3.5M8 11v.01',
  dot: 'M8 7a1 1 0 1 0 0 2a1 1 0 1 0 0-2',
  arrow: 'M3 8h9M8.5 4l4 4l-4 4',
} as const;

type Shape = keyof typeof SHAPES;

const WORDS: Readonly<Record<string, Shape>> = {
  queued: 'ring',
  awaiting_approval: 'diamond',
  pending: 'diamond',
  gated: 'diamond',
  running: 'gap',
  matched: 'ring',
  cancelled: 'slash',
  expired: 'slash',
  interrupted: 'broken',
  ignored: 'dot',
  fired: 'arrow',
  unknown: 'dotted',
};

const BY_HUE: Readonly<Record<string, Shape>> = {
  ok: 'check',
  fail: 'cross',
  warn: 'triangle',
  wait: 'diamond',
  run: 'gap',
  idle: 'ring',
};

/** A word with its mark; a text without a colour is only text. */
export function mark(text: string, paint: Paint | undefined): Html {
  const hue = paint === undefined ? undefined : HUES[paint];
  if (hue === undefined) return html`${text}`;
  const shape = WORDS[/^[a-z_]+/.exec(text)?.[0] ?? ''] ?? BY_HUE[hue];
  if (shape === undefined) return html`${text}`;
  // A path of ours: nothing in it needs an escape.
  const path = new Html(SHAPES[shape]);
  const icon = html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${path}"/></svg>`;
  // The script looks more often where something runs.
  const busy = /^(?:queued|running)/.test(text) ? html` data-busy` : html``;
  return html`<span class="m ${hue}"${busy}>${icon}${text}</span>`;
}
