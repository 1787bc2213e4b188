import type { AreaPages } from '../../console/area-pages.ts';
import { Failure } from '../../../domain/failure.ts';
import { html, type Html } from '../../html/html.ts';
import type { Page, PageRequest } from '../../console/page.ts';

const PAGE: Page = {
  path: '/netgroups',
  section: 'Checks',
  title: 'Netgroups',
  reads: ['netgroup.list', 'netgroup.classify'],
  async show(request) {
    const { ask, query } = request;
    const list = await ask('netgroup.list', 'netgroup.list');
    const address = query.get('address')?.trim() ?? '';
    const content = html`<form class="filter" role="search">
<label>address<input name="address" value="${address}" required></label>
<button>Show its netgroup</button>
</form>
${address === '' ? html`` : await classified(address, request)}\
${request.view('netgroup.list', list)}`;
    return { title: 'Netgroups', content };
  },
};

/** As the sweep of the checks and the peers of the audit ledger are classified. */
async function classified(address: string, request: PageRequest): Promise<Html> {
  try {
    const found = await request.ask('netgroup.classify', 'netgroup.classify', { address });
    return html`<div class="panel">${request.view('netgroup.classify', found)}</div>\n`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return html`<p role="alert">${error.message}</p>\n`;
  }
}

export const NETGROUPS: AreaPages = { pages: [PAGE] };
