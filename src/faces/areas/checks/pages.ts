import type { AreaPages } from '../../console/area-pages.ts';
import type { Projected } from '../../../views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { checkBlocks, percent } from './text.ts';
import { blocksHtml } from '../../console/blocks.ts';
import { stripHtml, stripTable } from './strip.ts';
import type { Page, PageRequest } from '../../console/page.ts';
import { plainPage } from '../../console/plain.ts';

type Check = Projected<'check.get'>;
type History = NonNullable<Check['targets'][number]['history']>;

const LIST = plainPage({
  path: '/checks',
  section: 'Checks',
  title: 'Checks',
  parts: [{ operation: 'check.list', kind: 'check.list', named: { NAME: '/checks/' } }],
});

const CHECK: Page = {
  path: '/checks/:name',
  section: 'Checks',
  title: 'Check',
  reads: ['check.get'],
  async show(request) {
    const check = await request.ask('check.get', 'check.get', request.params);
    const content = html`${acts(check, request)}${strips(check, request.display.nowMs)}\
${blocksHtml(checkBlocks(check, request.display), request)}`;
    return { title: `Check ${check.name}`, content };
  },
};

/** How long its events are suppressed; the command line takes any other time. */
const SPANS = html`<label>for <select name="for">
<option value="30m">30 minutes</option><option value="2h">2 hours</option><option value="1d">1 day</option>\
<option value="0">no time: end a snooze</option></select></label> `;

function acts({ name }: Check, { form }: PageRequest): Html {
  const path = `/checks/${encodeURIComponent(name)}`;
  const probe = form({ path: `${path}/probe`, operation: 'check.probe', label: 'Probe now' });
  const snooze = form({ path: `${path}/snooze`, operation: 'check.snooze', label: 'Snooze', fields: SPANS });
  return html`<div class="acts">${probe}${snooze}</div>\n`;
}

/** The last day of each target, the worst of each half hour. */
function strips({ targets }: Check, nowMs: number): Html {
  const known = targets.flatMap(({ name, history }) => (history === undefined ? [] : [{ name, history }]));
  if (known.length === 0) return html``;
  const rows = known.map(
    ({ name, history }, place) => html`<div><dt>${name}</dt><dd>\
${stripHtml({ name, slots: history.half_hours }, place, labelOf(history), nowMs)}${windows(history)}</dd></div>\n`,
  );
  const all = known.map(({ name, history }) => ({ name, slots: history.half_hours }));
  return html`<h2>The last 24 hours</h2>\n<dl>\n${rows}</dl>\n${stripTable(all, nowMs)}`;
}

function labelOf({ half_hours: slots, uptime_24h: share }: History): string {
  const counted = (['down', 'missed'] as const).map(
    (state) => `${slots.filter((slot) => slot === state).length} of ${slots.length} half hours ${state}`,
  );
  return `${share === null ? 'no observation' : `up ${percent(share)}`}, ${counted.join(', ')}`;
}

/** The shares up to 90 days; of a younger target since when it is observed. */
function windows(history: History): Html {
  const shares = [
    ['24h', history.uptime_24h],
    ['7d', history.uptime_7d],
    ['30d', history.uptime_30d],
    ['90d', history.uptime_90d],
  ] as const;
  const shown = shares.map(
    ([name, share], i) => html`${i === 0 ? '' : ' · '}<span class="nb">${name} <b>${percent(share)}</b></span>`,
  );
  const { observed_since: since } = history;
  return html`${shown}${since === undefined ? '' : `, observed since ${since.slice(0, 10)}`}`;
}

export const CHECKS: AreaPages = {
  pages: [LIST, CHECK],
  actions: [
    { path: '/checks/:name/probe', operation: 'check.probe', fields: [], page: '/checks/:name' },
    {
      path: '/checks/:name/snooze',
      operation: 'check.snooze',
      fields: ['for'],
      page: '/checks/:name',
      goesTo: ({ name = '' }) => `/checks/${name}`,
    },
  ],
};
