/** Text for people as a page: the same tables and names as on a terminal, with links. */
import { isId } from '../../lib/id.ts';
import { html, type Html } from '../html/html.ts';
import { type Block, blocksOf, type Sheet, type Table, type Text } from '../text/blocks.ts';
import { inline } from '../text/safe.ts';
import { mark } from './marks.ts';

/** Where the things of an id are shown, by its prefix. */
const PLACES: readonly (readonly [prefix: string, path: string])[] = [
  ['job', '/jobs/'],
  ['apr', '/approvals/'],
  ['evt', '/events/'],
  ['wfr', '/runs/'],
];

/** The same for the script of the pages: `job=/jobs/ apr=/approvals/`. */
export const ID_PLACES = PLACES.map((place) => place.join('=')).join(' ');

export interface Links {
  readonly url: (path: string) => string;
  /** The title of a column whose cells are names, and where they are shown: `NAME` and `/checks/`. */
  readonly named?: Readonly<Record<string, string>>;
  /** In place of the sentence about an empty table, where a filter left rows out. */
  readonly noMatch?: string | undefined;
}

export function blocksHtml(text: Text, links: Links): Html {
  return html`${blocksOf(text).map((block) => blockHtml(block, links))}`;
}

function blockHtml(block: Block, links: Links): Html {
  if (typeof block === 'string') return linesHtml(block.trimEnd());
  return block.is === 'table' ? tableHtml(block, links) : sheetHtml(block, links);
}

/** A line that introduces what comes next is a heading. */
function linesHtml(text: string): Html {
  if (text.trim() === '') return html``;
  return /^[^\n]+:$/.test(text) ? html`<h2>${text.slice(0, -1)}</h2>\n` : html`<pre>${text}</pre>\n`;
}

function tableHtml({ columns, rows, empty }: Table, links: Links): Html {
  if (rows.length === 0) return html`<p class="empty">${links.noMatch ?? empty}</p>\n`;
  const heads = columns.map(({ title }) => html`<th scope="col">${sentence(title)}</th>`);
  const lines = rows.map(
    (row) =>
      html`<tr>${row.map(({ text, paint }, at) => {
        const title = columns[at]?.title ?? '';
        const place = links.named?.[title];
        const shown = place === undefined ? linked(text, links) : named(text, place, links);
        const none = text === '-' ? html` class="none"` : html``;
        return html`<td data-t="${sentence(title)}"${none}>${paint === undefined ? shown : mark(text, paint)}</td>`;
      })}</tr>\n`,
  );
  return html`<table>\n<thead><tr>${heads}</tr></thead>\n<tbody>\n${lines}</tbody>\n</table>\n`;
}

function sheetHtml({ entries }: Sheet, links: Links): Html {
  const shown = entries.map(
    ([name, value]) => html`<div><dt>${inline(name.trim())}</dt><dd>${linked(value, links)}</dd></div>\n`,
  );
  return html`<dl>\n${shown}</dl>\n`;
}

/** `LAST JOB` as `Last job`. */
function sentence(title: string): string {
  return title.charAt(0) + title.slice(1).toLowerCase();
}

function named(name: string, place: string, { url }: Links): Html {
  return html`<a href="${url(place + encodeURIComponent(name))}">${inline(name)}</a>`;
}

/** A value with a link for each id in it that has a page, and each time as one that a browser knows. */
export function linked(text: string, { url }: Links): Html {
  const parts = text.split(/\b([a-z]{3}_[0-9a-z]{26}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)\b/);
  return html`${parts.map((part, at) => {
    if (at % 2 === 0) return html`${inline(unbroken(part))}`;
    if (part.endsWith('Z')) return html`<time datetime="${part}">${toSeconds(part)}</time>`;
    const place = PLACES.find(([prefix]) => isId(prefix, part));
    if (place === undefined) return html`<span class="id">${inline(part)}</span>`;
    return html`<a class="id" href="${url(place[1] + part)}">${part}</a>`;
  })}`;
}

/** How far away a time is, `(in 2h)` or `(3m ago)`, on one line: `ago)` alone on a phone's next line says nothing. */
function unbroken(text: string): string {
  return text.replace(/\((?:in \w+|\w+ ago)\)/g, (away) => away.replaceAll(' ', '\u00a0'));
}

/** `2026-11-23 10:58:03 UTC`. */
function toSeconds(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`;
}
