import { toApprovalOrJob } from '../../console/action.ts';
import type { AreaPages } from '../../console/area-pages.ts';
import { isTerminal } from '../../../domain/jobs/job.ts';
import { KINDS } from '../../../domain/kinds.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { table } from '../../text/blocks.ts';
import { JOB_PAINTS } from './text.ts';
import { blocksHtml } from '../../console/blocks.ts';
import { logHtml } from './log/log.ts';
import { mark } from '../../console/marks.ts';
import { orderHtml } from './order.ts';
import type { Page, PageRequest } from '../../console/page.ts';
import { plainPage } from '../../console/plain.ts';
import { progressHtml } from './progress.ts';

/** Events of the log that are shown first: the newest ones. */
const LOG_EVENTS = 400;
/** The same for lines of up to 64 KiB. */
const LONG_EVENTS = 16;

const LIST = plainPage({
  path: '/jobs',
  section: 'Jobs',
  title: 'Jobs',
  parts: [{ operation: 'job.list', kind: 'job.list' }],
});

const JOB: Page = {
  path: '/jobs/:id',
  section: 'Jobs',
  title: 'Job',
  reads: ['job.get', 'job.order', 'job.events', 'job.result', 'job.list'],
  async show(request) {
    const { params, ask } = request;
    const job = await ask('job.get', 'job.get', params);
    const [progress, order, log, result] = await Promise.all([
      progressHtml(job, request),
      orderHtml('job.order', request),
      logOf(job, request),
      resultOf(job, request),
    ]);
    const content = html`${progress}${approvalOf(job, request)}${act(job, request)}\
${order}${request.view('job.get', job)}
${result}`;
    return { title: job.runbook, state: mark(job.state, JOB_PAINTS[job.state]), content, log };
  },
};

/** What destroys everything is asked for on the page of its workspace, where its name is typed. */
function act({ id, state, kind }: Projected<'job.get'>, { form }: PageRequest): Html {
  if (!isTerminal(state))
    return acts(form({ path: `/jobs/${id}/cancel`, operation: 'job.cancel', label: 'Cancel the job' }));
  if (KINDS[kind].destroysAll) return html``;
  return acts(form({ path: `/jobs/${id}/rerun`, operation: 'job.rerun', label: 'Run it again' }));
}

function acts(button: Html): Html {
  return html`<div class="acts">${button}</div>\n`;
}

function approvalOf({ state, approval_id: approval }: Projected<'job.get'>, { url }: PageRequest): Html {
  if (state !== 'awaiting_approval' || approval === null) return html``;
  return html`<p class="line">This job waits for an approval. \
<a href="${url(`/approvals/${approval}`)}">Review it</a></p>\n`;
}

/** Of a kind that has results by host; nothing for another one, or before the end. What they printed is in the log. */
async function resultOf({ id, state }: Projected<'job.get'>, { ask, url }: PageRequest): Promise<Html> {
  if (!isTerminal(state)) return html``;
  try {
    const { hosts } = await ask('job.result', 'command.result', { id });
    if (hosts.length < 2) return html``;
    const rows = table(hosts, '', [
      { title: 'HOST', cell: ({ host }) => host },
      { title: 'RESULT', cell: ({ status }) => status, paint: ({ status }) => (status === 'ok' ? 'green' : 'red') },
      { title: 'EXIT CODE', cell: ({ rc }) => (rc === null ? '-' : String(rc)) },
    ]);
    return html`<h2>Results by host</h2>\n${blocksHtml(rows, { url })}`;
  } catch (error) {
    if (error instanceof Failure) return html``;
    throw error;
  }
}

/** The newest part of the log; with `since` in the URL, what comes after that line. */
async function logOf({ id, state }: Projected<'job.get'>, request: PageRequest): Promise<Html> {
  const { fields, url } = request;
  const since = fields('job.events')['since'];
  const events = since === undefined ? await newest(request) : await ask(request, { since });
  const after = Number(since ?? 0);
  const [first, last] = [events[0]?.seq ?? 0, events.at(-1)?.seq ?? after];
  const path = url(`/jobs/${id}`);
  const range = events.length === 0 ? 'Nothing follows.' : `Lines ${first} to ${last}.`;
  const earlier = first === 1 ? html`` : html` <a href="${path}?since=0#output">From the beginning</a>`;
  const later =
    since === undefined
      ? html``
      : html` <a href="${path}?since=${last}#output">After line ${last}</a> <a href="${path}#output">Newest</a>`;
  const ways = html`<p><span>${range}</span>${earlier}${later}</p>\n`;
  const stream = isTerminal(state) ? null : url(`/api/v1/jobs/${id}/stream`);
  return html`<h2 id="output">Output</h2>\n${logHtml({ events, after, stream, ways, raw: `${path}/output.txt` })}`;
}

/** Fewer lines where they are so long that the first part of them would fill the page. */
async function newest(request: PageRequest): Promise<Projected<'job.events'>> {
  const events = await ask(request, { last: LOG_EVENTS });
  const { length } = await ask(request, { since: events.at(-1)?.seq ?? 0, last: 1 });
  return length === 0 ? events : ask(request, { last: LONG_EVENTS });
}

function ask({ params, ask: of }: PageRequest, part: object): Promise<Projected<'job.events'>> {
  return of('job.events', 'job.events', { ...params, ...part });
}

export const JOBS: AreaPages = {
  pages: [LIST, JOB],
  actions: [
    {
      path: '/jobs/:id/cancel',
      operation: 'job.cancel',
      fields: [],
      page: '/jobs/:id',
      goesTo: ({ id }) => `/jobs/${id ?? ''}`,
    },
    { path: '/jobs/:id/rerun', operation: 'job.rerun', fields: [], page: '/jobs/:id', goesTo: toApprovalOrJob },
  ],
};
