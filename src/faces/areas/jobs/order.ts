import { Failure } from '../../../domain/failure.ts';
import type { PageRequest } from '../../console/page.ts';
import { html, type Html } from '../../html/html.ts';

/** What is ordered; nothing for a visitor who may not see it, and a sentence where it cannot be shown. */
export async function orderHtml(
  operation: 'approval.order' | 'job.order',
  { ask, may, params, view }: PageRequest,
): Promise<Html> {
  if (!may(operation)) return html``;
  try {
    return html`<h2>What runs</h2>\n${view('order', await ask(operation, 'order', params))}`;
  } catch (error) {
    if (error instanceof Failure) return html`<h2>What runs</h2>\n<p class="line">${error.message}</p>\n`;
    throw error;
  }
}
