import type { HalfHour } from '../../../domain/checks/check.ts';
import type { Projected } from '../../../operations/views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { checkBlocks, percent } from '../../text/views/checks.ts';
import { blocksHtml } from '../console/blocks.ts';
import type { Page, PageRequest } from './page.ts';
import { plainPage } from './plain.ts';

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
    const content = html`${probe(check, request)}${strips(check)}\
${blocksHtml(checkBlocks(check, request.display), request)}`;
    return { title: `Check ${check.name}`, content };
  },
};

function probe({ name }: Check, { form }: PageRequest): Html {
  const path = `/checks/${encodeURIComponent(name)}/probe`;
  return html`<div class="acts">${form({ path, operation: 'check.probe', label: 'Probe now' })}</div>\n`;
}

/** The last day of each target, the worst of each half hour. */
function strips({ targets }: Check): Html {
  const rows = targets.flatMap(({ name, history }) =>
    history === undefined ? [] : [html`<div><dt>${name}</dt><dd>${strip(name, history)}</dd></div>\n`],
  );
  if (rows.length === 0) return html``;
  return html`<h2>The last 24 hours</h2>\n<dl>\n${rows}</dl>\n`;
}

/** Heights that tell the states apart without colour. */
const HEIGHTS: Readonly<Record<HalfHour, number>> = { up: 16, down: 7, missed: 2, none: 1 };

function strip(name: string, history: History): Html {
  const { half_hours: slots, uptime_24h: share } = history;
  const counted = (['down', 'missed'] as const).map(
    (state) => `${slots.filter((slot) => slot === state).length} of ${slots.length} half hours ${state}`,
  );
  const up = share === null ? 'no observation' : `up ${percent(share)}`;
  const bars = slots.map(
    (slot, at) =>
      html`<rect class="${slot}" x="${at * 4}" y="${16 - HEIGHTS[slot]}" width="3" height="${HEIGHTS[slot]}"/>`,
  );
  return html`<svg class="strip" role="img" aria-label="${name}: ${up}, ${counted.join(', ')}" \
viewBox="0 0 ${slots.length * 4} 16" preserveAspectRatio="none">${bars}</svg> ${windows(history)}`;
}

/** The shares up to 90 days; of a younger target since when it is observed. */
function windows(history: History): Html {
  const shares = [
    ['24 h', history.uptime_24h],
    ['7 d', history.uptime_7d],
    ['30 d', history.uptime_30d],
    ['90 d', history.uptime_90d],
  ] as const;
  const shown = shares.map(([name, share], i) => html`${i === 0 ? '' : ' · '}${name} <b>${percent(share)}</b>`);
  const { observed_since: since } = history;
  return html`${shown}${since === undefined ? '' : `, observed since ${since.slice(0, 10)}`}`;
}

export const CHECK_PAGES = [LIST, CHECK];
