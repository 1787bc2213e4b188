import type { AreaPages } from '../../console/area-pages.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { OUTCOME_PAINTS } from '../events/text.ts';
import { mark } from '../../console/marks.ts';
import { traceHtml } from '../events/trace.ts';
import type { Page, PageRequest } from '../../console/page.ts';
import { plainPage } from '../../console/plain.ts';
import { QUIET_PAGES } from './quiet.ts';

const LIST = plainPage({
  path: '/rules',
  section: 'Rules',
  title: 'Rules',
  parts: [{ operation: 'rule.list', kind: 'rule.list', named: { NAME: '/rules/' } }],
});

/** Events that the tester proposes. */
const PROPOSED = 100;

const RULE: Page = {
  path: '/rules/:name',
  section: 'Rules',
  title: 'Rule',
  reads: ['rule.list', 'rule.export', 'rule.test', 'event.list'],
  async show(request) {
    const { ask, params, may } = request;
    const { name = '' } = params;
    const rule = (await ask('rule.list', 'rule.list')).filter((each) => each.name === name);
    const [shown] = rule;
    if (shown === undefined) throw new Failure('not_found', `There is no rule ${name}.`);
    const file = may('rule.export') ? await ask('rule.export', 'rule.exported', { name }) : null;
    const text = file === null ? html`` : html`<h2>File</h2>\n<pre>${file.text}</pre>\n`;
    const facts = request.view('rule.list', rule);
    return {
      title: `Rule ${name}`,
      content: html`${facts}${stop(shown, request)}${await tester(name, request)}${text}`,
    };
  },
};

/** Only that, and not of a rule that needs approvals: see decision 035. */
function stop({ name, enabled, approval }: Projected<'rule.list'>[number], { form }: PageRequest): Html {
  if (!enabled || approval === 'required') return html``;
  const path = `/rules/${encodeURIComponent(name)}/disable`;
  return html`<div class="acts">${form({ path, operation: 'rule.disable', label: 'Disable the rule' })}</div>\n`;
}

/** What the rule would do with a stored event: the code that fires rules says it, and nothing is written. */
async function tester(name: string, { ask, query }: PageRequest): Promise<Html> {
  const chosen = query.get('event') ?? '';
  const events = await ask('event.list', 'event.list', { limit: PROPOSED });
  const options = events.map(
    ({ id, name: what, source, received_at: at }) =>
      html`<option value="${id}">${what ?? source}, ${at.slice(0, 16)}Z</option>\n`,
  );
  const result = chosen === '' ? html`` : await tested(name, chosen, ask);
  return html`<h2>Try it with a stored event</h2>
<form class="filter"><label>event<input name="event" value="${chosen}" list="events" size="32"></label>
<datalist id="events">\n${options}</datalist>
<button>Test</button></form>
${result}`;
}

async function tested(name: string, event: string, ask: PageRequest['ask']): Promise<Html> {
  try {
    const { outcome, reason, trace } = await ask('rule.test', 'rule.test', { name, event });
    return html`<section class="panel" role="status"><p>${mark(outcome, OUTCOME_PAINTS[outcome])}: ${reason} \
Nothing was written.</p>
${traceHtml(trace)}</section>\n`;
  } catch (error) {
    if (error instanceof Failure) return html`<p role="alert">${error.message}</p>\n`;
    throw error;
  }
}

export const RULES: AreaPages = {
  pages: [LIST, RULE, ...QUIET_PAGES],
  actions: [
    {
      path: '/rules/:name/disable',
      operation: 'rule.disable',
      fields: [],
      page: '/rules/:name',
      goesTo: ({ name = '' }) => `/rules/${name}`,
    },
  ],
};
