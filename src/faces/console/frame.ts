/** What all pages of the console share: navigation, heading, the state of the service, and the foot. */
import { html, type Html } from '../html/html.ts';
import { clockTime } from '../text/time.ts';
import { type Page, SECTIONS, type Visitor } from './page.ts';
import { ICON_PATH, MANIFEST_PATH, SCRIPT_PATH, STYLE_PATH, WAITING_ICON_PATH } from './assets.ts';
import { ID_PLACES } from './blocks.ts';
import type { Pending } from './pending.ts';
import { attributesOf, type Preferences, preferencesHtml } from './preferences.ts';

interface Frame {
  readonly pages: readonly Page[];
  readonly page: Pick<Page, 'section' | 'path' | 'partOf'>;
  readonly title: string;
  readonly state: Html;
  /** A failure or a result, above the content. */
  readonly alert: Html;
  readonly content: Html;
  readonly log: Html;
  readonly elsewhere: Html;
  readonly visitor: Visitor;
  readonly host: string | null;
  readonly pending: Pending;
  readonly preferences: Preferences;
  /** Null where this process cannot tell. */
  readonly cordoned: boolean | null;
  readonly nowMs: number;
  /** Whether the address of the page answers it again, as it is then: not after a form. */
  readonly isLive: boolean;
  readonly url: (path: string) => string;
}

export function framed(frame: Frame): string {
  const { title, host, url, pending, preferences, state, alert, content, log, visitor, nowMs, cordoned } = frame;
  // Without a script nothing looks again: the foot says when the page was true.
  const live = frame.isLive
    ? html`<p class="live"><span id="live" role="status"></span> \
<button id="pause" type="button" hidden>Pause</button></p>
<p id="news" class="hide" role="status"></p>\n`
    : html``;
  const waits = pending === '' ? '' : `(${pending}) `;
  // A page of `svc web` would else look as if no cordon were set.
  const queueless =
    cordoned === null ? ' This process has no job queue: only the daemon knows whether the service is cordoned.' : '';
  const [idle, waiting] = [url(ICON_PATH), url(WAITING_ICON_PATH)];
  return html`<!doctype html>
<html lang="en" data-base="${url('')}" data-ids="${ID_PLACES}"${attributesOf(preferences)}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1,viewport-fit=cover">
<title>${waits}${title} · svc${host === null ? '' : ` ${host}`}</title>
<link rel="icon" href="${pending === '' ? idle : waiting}" data-idle="${idle}" data-waits="${waiting}">
<link rel="manifest" href="${url(MANIFEST_PATH)}" crossorigin="use-credentials">
<link rel="stylesheet" href="${url(STYLE_PATH)}">
<script defer src="${url(SCRIPT_PATH)}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<p class="brand"><b>svc</b> ${host ?? ''}</p>
${navigation(frame)}${live}<p class="find"><button id="find" type="button" hidden>Go to… <kbd>Ctrl K</kbd></button></p>
${preferencesHtml(preferences)}</header>
<main id="content">
<div id="page">
${cordonLine(frame)}${tabs(frame)}<div class="head"><h1>${title}</h1>${state}</div>
${alert}${content}
</div>
${log}</main>
<footer>
${frame.elsewhere}
<p>As of <time datetime="${new Date(nowMs).toISOString()}">${clockTime(nowMs, nowMs)}</time>. \
Signed in as ${visitor.name} of ${visitor.owner}, scope ${visitor.scope}.${queueless} \
<a href="${url('/docs')}">Documentation</a></p>
${signOut(frame)}
</footer>
</body>
</html>
`.text;
}

function navigation({ pages, page, url, pending }: Frame): Html {
  const entries = SECTIONS.flatMap((section) => {
    const entry = pages.find((each) => each.section === section && !each.path.includes(':'));
    return entry === undefined ? [] : [{ section, path: entry.path }];
  });
  const links = entries.map(({ section, path }) => {
    const current = section === page.section ? html` aria-current="true"` : html``;
    const count =
      section === 'Approvals' && pending !== ''
        ? html` <span class="count" title="${pending} pending">${pending}</span>`
        : html``;
    return html`<li><a href="${url(path)}"${current}>${section}${count}</a></li>\n`;
  });
  return html`<nav aria-label="Sections"><ul>\n${links}</ul></nav>\n`;
}

/** The other pages of the section. */
function tabs({ pages, page, url }: Frame): Html {
  const all = pages.filter(({ section, path }) => section === page.section && !path.includes(':'));
  if (all.length < 2) return html``;
  const links = all.map(({ path, title }) => {
    const current =
      path === page.path ? 'page' : page.path.startsWith(`${path}/:`) || page.partOf === path ? 'true' : null;
    const mark = current === null ? html`` : html` aria-current="${current}"`;
    return html`<a href="${url(path)}"${mark}>${title}</a>\n`;
  });
  return html`<nav class="tabs" aria-label="Pages of ${page.section}">\n${links}</nav>\n`;
}

function cordonLine({ cordoned, url }: Frame): Html {
  if (cordoned !== true) return html``;
  return html`<p class="line warn">The service is cordoned: no job starts and no rule fires. \
<a href="${url('/maintenance')}">Maintenance</a></p>\n`;
}

function signOut({ visitor, url }: Frame): Html {
  if (visitor.csrf === null) return html``;
  return html`<form method="post" action="${url('/logout')}">\
<input type="hidden" name="csrf" value="${visitor.csrf}"><button>Sign out</button></form>`;
}
