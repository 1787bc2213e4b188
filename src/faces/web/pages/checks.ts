import type { HalfHour } from '../../../domain/checks/check.ts';
import type { Projected } from '../../../operations/views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { textOf } from '../../text/render.ts';
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
${blocksHtml(textOf('check.get', check, request.display), request)}`;
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

function strip(name: string, { half_hours: slots, uptime_24h: share }: History): Html {
  const counted = (['down', 'missed'] as const).map(
    (state) => `${slots.filter((slot) => slot === state).length} of ${slots.length} half hours ${state}`,
  );
  const percent = share === null ? 'no observation' : `up ${(share * 100).toFixed(2)} %`;
  const bars = slots.map(
    (slot, at) =>
      html`<rect class="${slot}" x="${at * 4}" y="${16 - HEIGHTS[slot]}" width="3" height="${HEIGHTS[slot]}"/>`,
  );
  return html`<svg class="strip" role="img" aria-label="${name}: ${percent}, ${counted.join(', ')}" \
viewBox="0 0 ${slots.length * 4} 16" preserveAspectRatio="none">${bars}</svg> ${percent}`;
}

export const CHECK_PAGES = [LIST, CHECK];
