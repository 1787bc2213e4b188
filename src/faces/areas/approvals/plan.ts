/** A plan on a page: what is destroyed first and open, with each change of a value. */
import type { Projected } from '../../../views/views.ts';
import { knownLater } from '../workspaces/plan-text.ts';
import { html, type Html } from '../../html/html.ts';

type Plan = Projected<'approval.plan'>;
type Entry = Plan['destroys'][number];
type Attribute = Entry['attributes'][number];

/** Destroyed things of which the values are shown at once; more would push the others out of sight. */
const OPEN_MAX = 5;

const SIGNS: Readonly<Record<Entry['action'], readonly [sign: string, hue: string]>> = {
  destroy: ['−', 'fail'],
  replace: ['−/+', 'fail'],
  update: ['~', 'warn'],
  create: ['+', 'ok'],
};

const REDACTED = /^\[redacted · [a-z-]+\]$/;

export function planHtml({ destroys, changes, creates, summary }: Plan): Html {
  const parts = [
    ...destroys.map((entry, at) => entryHtml(entry, at < OPEN_MAX)),
    ...changes.map((entry) => entryHtml(entry, false)),
    ...creates.map((entry) => entryHtml(entry, false)),
  ];
  return html`${parts}<p><b>Plan: ${summary}.</b></p>\n`;
}

function entryHtml({ address, action, attributes }: Entry, open: boolean): Html {
  const [sign, hue] = SIGNS[action];
  const head = html`<b class="mono c-${hue}">${sign}</b> ${action} <span class="mono">${address}</span>`;
  if (attributes.length === 0) return html`<p class="entry">${head}</p>\n`;
  const rows = attributes.map(
    (each) => html`<div><dt class="mono">${each.name}</dt><dd>${changeHtml(each, action)}</dd></div>\n`,
  );
  return html`<details${open ? html` open` : html``}><summary>${head}</summary>\n<dl>\n${rows}</dl>\n</details>\n`;
}

function changeHtml({ before, after }: Attribute, action: Entry['action']): Html {
  if (action === 'create') return html`<ins>${valueHtml(after)}</ins>`;
  if (action === 'destroy') return html`${valueHtml(before)} <span class="soft">gone</span>`;
  if (before === after) return html`${valueHtml(before)} <span class="soft">a redacted part changes</span>`;
  const was = REDACTED.test(before) ? valueHtml(before) : html`<del>${valueHtml(before)}</del>`;
  return html`<span class="hide">was</span> ${was} \
→ <span class="hide">becomes</span> <ins>${valueHtml(after)}</ins>`;
}

function valueHtml(text: string): Html {
  if (REDACTED.test(text)) return html`<span class="chip">${knownLater(text)}</span>`;
  return text === '' ? html`<span class="soft">(empty)</span>` : html`<span class="mono">${knownLater(text)}</span>`;
}
