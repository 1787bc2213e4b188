/** How an event came to its outcome: each rule, its terms, then its guards in their order. */
import type { Projected } from '../../../views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { mark } from '../../console/marks.ts';

type Step = Projected<'event.trace'>['steps'][number];
type Term = NonNullable<Step['terms']>[number];

const STEP_PAINTS = { passed: 'green', stopped: 'yellow', 'not reached': 'dim', error: 'red' } as const;
const TERM_PAINTS = { true: 'green', false: 'yellow', error: 'red' } as const;

export function traceHtml(steps: readonly Step[]): Html {
  if (steps.length === 0) return html`<p class="empty">No rule was evaluated.</p>\n`;
  return html`<ol class="trace">\n${steps.map(stepHtml)}</ol>\n`;
}

function stepHtml({ step, rule, result, why, terms = [] }: Step): Html {
  const what = step === 'rule' ? `rule ${rule ?? '-'}` : step;
  const inner = terms.length === 0 ? html`` : html`\n<ul>\n${terms.map(termHtml)}</ul>`;
  return html`<li>${mark(result, STEP_PAINTS[result])} <b>${what}</b>: ${why}${inner}</li>\n`;
}

function termHtml({ term, result, why }: Term): Html {
  return html`<li>${mark(result, TERM_PAINTS[result])} <code>${term}</code>${why === null ? '' : ` ${why}`}</li>\n`;
}
