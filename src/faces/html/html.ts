import { block } from '../text/safe.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup made by `html`, and therefore safe to send. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | readonly Html[];

/**
 * Markup with values in it. Only markup is inserted unchanged; every other value is escaped, for text and for quoted
 * attributes; its characters that are invisible or reorder letters are shown as escapes (T44).
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((each, i) => each + (i < parts.length ? render(parts[i] ?? '') : '')).join(''));
}

function render(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map((each) => each.text).join('');
  return block(String(part)).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
