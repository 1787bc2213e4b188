/** The public page: what is up, in the words of who runs the service. */
import { hash } from 'node:crypto';
import { isYoung } from '../../domain/checks/sweep/availability.ts';
import type { BoardEntry, BoardState } from '../../operations/checks/status-board.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { html, type Html } from '../html/html.ts';
import { shell } from '../html/shell.ts';
import { type HeaderList, pageHeaders } from '../http/headers.ts';
import { percent } from '../areas/checks/text.ts';

const STYLE = `:root{color-scheme:light dark;--ink:light-dark(#14181d,#e8ecf1);--soft:light-dark(#4b5560,#a9b4c0);\
font:1rem/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums}
*{box-sizing:border-box}
body{margin:0;background:light-dark(#fff,#0e1116);color:var(--ink)}
main{max-width:44rem;margin:auto;padding:2rem max(1rem,env(safe-area-inset-right)) 2rem \
max(1rem,env(safe-area-inset-left))}
h1,h2,p,ul,dl,dd{margin:0;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;text-wrap:balance}
h2{font-size:1rem}
ul{padding:0;list-style:none;margin:1.5rem 0}
li{display:grid;grid-template-columns:1fr auto;gap:.25rem 1rem;padding:.875rem 1rem;margin:0 0 .5rem;\
border-radius:.5rem;background:light-dark(#f6f7f9,#161b22);border-left:4px solid var(--hue)}
li>p{font-weight:650;color:var(--hue)}
dl{grid-column:1/-1;display:grid;grid-template-columns:repeat(4,1fr);gap:.5rem}
dt,small,.soft{font-size:.8125rem;color:var(--soft)}
small{grid-column:1/-1}
.up{--hue:light-dark(#00705c,#aef9c8)}
.partly{--hue:light-dark(#7d5500,#e8b604)}
.down{--hue:light-dark(#a51200,#ff6a50)}
.unknown{--hue:light-dark(#444e5e,#a9b4c0)}`;

/** May be kept by a cache as long as it is true. */
export const STATUS_HEADERS: HeaderList = pageHeaders(hash('sha256', STYLE, 'base64'), 'public, max-age=10');

const WORDS: Readonly<Record<BoardState, string>> = {
  up: '✓ Up',
  partly: '△ Partly down',
  down: '✕ Down',
  unknown: '? Unknown',
};

const WINDOWS = [
  ['24h', 'day'],
  ['7d', 'week'],
  ['30d', 'month'],
  ['90d', 'quarter'],
] as const;

export type Labelled = Omit<BoardEntry, 'name'> & { readonly label: string };

/** `nowMs` is when it was true; `isOld` if nothing newer could be read since. */
export function statusPage(entries: readonly Labelled[], nowMs: number, isOld: boolean): string {
  const rows = entries.map((entry) => entryHtml(entry, nowMs));
  const list = rows.length === 0 ? html`<p>No service is listed here.</p>\n` : html`<ul>\n${rows}</ul>\n`;
  const old = isOld ? html`<p role="alert">The states are not known at the moment.</p>\n` : html``;
  const at = rfc3339(nowMs);
  const foot = html`<p class="soft">As of <time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 19)} UTC</time></p>`;
  return shell(headline(entries), html`${old}${list}${foot}`, html``, STYLE);
}

function headline(entries: readonly Labelled[]): string {
  const count = (state: BoardState): number => entries.filter((entry) => entry.state === state).length;
  const [down, partly, unknown] = [count('down'), count('partly'), count('unknown')];
  if (entries.length === 0) return 'Status';
  if (down + partly > 0)
    return `${down + partly} of ${entries.length} ${entries.length === 1 ? 'is' : 'are'} disrupted`;
  return unknown > 0 ? 'No disruption is known' : 'Everything is up';
}

function entryHtml({ label, state, uptime }: Labelled, nowMs: number): Html {
  const shares =
    uptime === null ? html`` : html`<dl>${WINDOWS.map(([name, key]) => shareHtml(name, uptime[key]))}</dl>`;
  return html`<li class="${state}"><h2>${label}</h2><p>${WORDS[state]}</p>${shares}${young(uptime, nowMs)}</li>\n`;
}

function shareHtml(name: string, share: number | null): Html {
  return html`<div><dt>${name}</dt><dd>${percent(share)}</dd></div>`;
}

/** A share of 90 days of something younger is one of fewer days. */
function young(uptime: Labelled['uptime'], nowMs: number): Html {
  if (uptime === null || !isYoung(uptime, nowMs)) return html``;
  return html`<small>observed since ${rfc3339(uptime.since).slice(0, 10)}</small>`;
}
