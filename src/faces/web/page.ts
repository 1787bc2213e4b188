import { hash } from 'node:crypto';
import { type HeaderList, pageHeaders } from '../http/headers.ts';
import { html, Html } from '../html/html.ts';

/**
 * The whole style, in the page itself: a page before the sign-in may ask for nothing else. It fits 360 px, and
 * follows the light or dark scheme of the system.
 */
const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;display:grid;min-height:100vh;place-items:center;background:light-dark(#f6f7f9,#14161a);\
color:light-dark(#1a1d21,#e8eaed)}
main{box-sizing:border-box;width:100%;max-width:26rem;padding:1.5rem}
h1{margin:0 0 1rem;font-size:1.5rem}
label{display:block;margin-bottom:.25rem;font-weight:600}
input,button{box-sizing:border-box;width:100%;min-height:2.75rem;padding:.5rem .75rem;\
border:1px solid light-dark(#767b84,#8b919b);border-radius:.375rem;background:light-dark(#fff,#1d2026);\
color:inherit;font:inherit}
button{margin-top:1rem;border-color:transparent;background:light-dark(#1f4fd1,#8fb0ff);\
color:light-dark(#fff,#0d1526);font-weight:600;cursor:pointer}
:focus-visible{outline:3px solid light-dark(#1f4fd1,#8fb0ff);outline-offset:2px}
[role=alert]{padding:.5rem .75rem;border-left:4px solid light-dark(#b3261e,#ff8a80)}
a{color:light-dark(#1f4fd1,#8fb0ff)}
p{overflow-wrap:anywhere}`;

export const PAGE_HEADERS: HeaderList = pageHeaders(hash('sha256', STYLE, 'base64'));

export function page(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.text;
}

/** Says neither what version answers nor on which host. */
export function signInPage(basePath: string, message?: string): string {
  const alert = message === undefined ? html`` : html`<p role="alert">${message}</p>\n`;
  return page(
    'Sign in',
    html`${alert}<form method="post" action="${basePath}/login">
<label for="token">Token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="current-password" \
autocapitalize="off" spellcheck="false">
<button>Sign in</button>
</form>`,
  );
}

export interface Visitor {
  readonly name: string;
  readonly scope: string;
  /** What the forms of a session carry; null for a bearer token, which has nothing to sign out of. */
  readonly csrf: string | null;
}

export function dashboardPage(basePath: string, version: string, visitor: Visitor): string {
  const signOut =
    visitor.csrf === null
      ? html``
      : html`<form method="post" action="${basePath}/logout">
<input type="hidden" name="csrf" value="${visitor.csrf}">
<button>Sign out</button>
</form>`;
  return page(
    'Gatehouse',
    html`<p>Version ${version} is running. You are signed in as ${visitor.name} with the scope ${visitor.scope}.</p>
<ul>
<li><a href="${basePath}/api/v1/jobs">Jobs</a></li>
<li><a href="${basePath}/api/v1/health">Health</a></li>
<li><a href="${basePath}/api/v1/openapi.json">The API, described in OpenAPI</a></li>
</ul>
<p>The command <code>svc --help</code> shows what can be done from a terminal.</p>
${signOut}`,
  );
}

export function missingPage(basePath: string): string {
  return page('Not found', html`<p>There is no such page. <a href="${basePath}/">Go to the dashboard</a>.</p>`);
}

/** For what has no page yet: `command` shows it. */
export function unmadePage(basePath: string, command: string): string {
  return page(
    'No page yet',
    html`<p>This page is not made yet. On the command line the same is shown by:</p>
<p><code>${command}</code></p>
<p><a href="${basePath}/">Go to the dashboard</a>.</p>`,
  );
}
