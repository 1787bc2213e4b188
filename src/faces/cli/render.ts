import type { Projected, ViewName } from '../../views/views.ts';
import type { Display } from '../text/display.ts';
import { madeSafe, textOf } from '../areas/texts.ts';
import { terminalText } from './terminal-text.ts';

/**
 * Answers with a value that is shown only once: standard output has only the value, for scripts; the rendering on
 * standard error explains it.
 */
const SECRETS: { readonly [V in ViewName]?: (data: Projected<V>) => string } = {
  'token.created': ({ token: secret }) => `${secret}\n`,
  'seal.exported': ({ text }) => text ?? '',
  'webhook.created': ({ url, signing_secret: secret }) => `${url}\n${secret === null ? '' : `${secret}\n`}`,
};

/** The value of an answer that is shown only once, with its line end; null if it has no such value. */
export function secretOf(kind: string, data: unknown): string | null {
  const own = Object.hasOwn(SECRETS, kind) ? SECRETS[kind as ViewName] : undefined;
  return own === undefined ? null : own(madeSafe(data) as never);
}

/** Ends with a line end. A kind that this build does not know gets the generic rendering. */
export function render(kind: string, data: unknown, display: Display): string {
  return terminalText(textOf(kind, data, display), display);
}
