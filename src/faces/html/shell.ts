import { hash } from 'node:crypto';
import { type HeaderList, pageHeaders } from '../http/headers.ts';
import { html, Html } from './html.ts';
import { STYLE } from './style.ts';

export const PAGE_HEADERS: HeaderList = pageHeaders(hash('sha256', STYLE, 'base64'));

/** A whole page: `content` below its heading, `above` before it; `style` is a style sheet of ours. */
export function shell(title: string, content: Html, above: Html = html``, style = STYLE): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1,viewport-fit=cover">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
${above}<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.text;
}
