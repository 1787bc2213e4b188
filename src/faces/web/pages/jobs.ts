import { isTerminal } from '../../../domain/jobs/job.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../operations/views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { textOf } from '../../text/render.ts';
import { JOB_PAINTS } from '../../text/views/jobs.ts';
import { blocksHtml } from '../console/blocks.ts';
import { logHtml } from '../console/log.ts';
import { mark } from '../console/marks.ts';
import type { Page, PageRequest } from './page.ts';
import { plainPage } from './plain.ts';

/** Events of the log that are shown first: the newest ones. */
const LOG_EVENTS = 400;

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
  reads: ['job.get', 'job.events', 'job.result', 'approval.list'],
  async show(request) {
    const { params, ask, display } = request;
    const job = await ask('job.get', 'job.get', params);
    const [log, result, approval] = await Promise.all([
      logOf(request),
      resultOf(job, request),
      approvalOf(job, request),
    ]);
    const content = html`${approval}${cancel(job, request)}${blocksHtml(textOf('job.get', job, display), request)}
${result}${log}`;
    return { title: job.runbook, state: mark(job.state, JOB_PAINTS[job.state]), content };
  },
};

function cancel({ id, state }: Projected<'job.get'>, { form }: PageRequest): Html {
  if (isTerminal(state)) return html``;
  const button = form({ path: `/jobs/${id}/cancel`, operation: 'job.cancel', label: 'Cancel the job' });
  return html`<div class="acts">${button}</div>\n`;
}

async function approvalOf({ id, state }: Projected<'job.get'>, { ask, url }: PageRequest): Promise<Html> {
  if (state !== 'awaiting_approval') return html``;
  const pending = await ask('approval.list', 'approval.list');
  const approval = pending.find(({ job_id: job }) => job === id);
  if (approval === undefined) return html``;
  return html`<p class="line">This job waits for an approval. \
<a href="${url(`/approvals/${approval.id}`)}">Review it</a></p>\n`;
}

/** Of a kind that has results by host; nothing for another one, or before the end. */
async function resultOf({ id, state }: Projected<'job.get'>, { ask, display, url }: PageRequest): Promise<Html> {
  if (!isTerminal(state)) return html``;
  try {
    const result = await ask('job.result', 'command.result', { id });
    if (result.hosts.length === 0) return html``;
    return html`<h2>Results by host</h2>\n${blocksHtml(textOf('command.result', result, display), { url })}`;
  } catch (error) {
    if (error instanceof Failure) return html``;
    throw error;
  }
}

/** The newest part of the log; with `since` in the URL, what comes after that line. */
async function logOf({ params, query, ask, fields, url }: PageRequest): Promise<Html> {
  const since = fields('job.events')['since'];
  const part = since === undefined ? { last: LOG_EVENTS } : { since };
  const events = await ask('job.events', 'job.events', { ...params, ...part });
  const first = events[0]?.seq ?? 1;
  const last = events.at(-1)?.seq ?? 0;
  const path = `/jobs/${params['id'] ?? ''}`;
  const earlier = first > 1 ? html`<a href="${url(`${path}?since=0`)}">From the beginning</a> ` : html``;
  const later = query.has('since') ? html`<a href="${url(`${path}?since=${last}`)}">After line ${last}</a>` : html``;
  return html`<h2 id="output">Output</h2>\n<p>${earlier}${later}</p>\n${logHtml(events)}`;
}

export const JOB_PAGES = [LIST, JOB];
