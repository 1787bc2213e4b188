import type { AreaPages } from '../../console/area-pages.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../views/views.ts';
import { html } from '../../html/html.ts';
import { becameOf } from './became.ts';
import { OUTCOME_PAINTS, reasonText } from './text.ts';
import { filters } from '../../console/filters.ts';
import { mark } from '../../console/marks.ts';
import { traceHtml } from './trace.ts';
import { linked } from '../../console/blocks.ts';
import type { Page, PageRequest } from '../../console/page.ts';
import { plainPage } from '../../console/plain.ts';

/** Rows of the page: a filter with fewer or more rows gets the nearest. */
const ROWS_MIN = 100;
const ROWS_MAX = 500;

const LIST: Page = {
  path: '/events',
  section: 'Events',
  title: 'Events',
  reads: ['event.list', 'event.summary'],
  filters: true,
  async show(request) {
    const { ask, query, url } = request;
    const filter = request.fields('event.list');
    const noMatch = Object.keys(filter).length > 0 ? 'Nothing matches the filter.' : undefined;
    const [events, summary] = await Promise.all([
      ask('event.list', 'event.list', { ...filter, limit: rowsOf(filter['limit']) }),
      ask('event.summary', 'event.summary'),
    ]);
    const { received, ...outcomes } = summary;
    const links = Object.entries(outcomes).map(
      ([outcome, count]) => html`<a href="${url(`/events?outcome=${outcome}`)}">${outcome} ${count}</a>\n`,
    );
    const content = html`<p>Since the beginning ${received} received:</p>
<p class="acts">${links}</p>
${filters('event.list', query)}${request.view('event.list', events, { noMatch })}`;
    return { title: 'Events', content };
  },
};

/** `limit` as the API takes it, where 0 is all rows. What is no number is left to the API, which refuses it. */
function rowsOf(limit: unknown = ROWS_MIN): unknown {
  const rows = Number(limit);
  if (!Number.isSafeInteger(rows) || rows < 0) return limit;
  return rows === 0 ? ROWS_MAX : Math.min(Math.max(rows, ROWS_MIN), ROWS_MAX);
}

const EVENT: Page = {
  path: '/events/:id',
  section: 'Events',
  title: 'Event',
  reads: ['event.get', 'event.trace', 'approval.get', 'job.get'],
  async show(request) {
    const { ask, params } = request;
    const [event, trace] = await Promise.all([
      ask('event.get', 'event.get', params),
      ask('event.trace', 'event.trace', params),
    ]);
    const became = await becameOfEvent(event, request);
    const content = html`<section class="panel"><h2>Why</h2>
<p>${reasonText(event.reason)}</p>
${became === null ? html`` : html`<p>${linked(became, request)}</p>\n`}${traceHtml(trace.steps)}</section>
${request.view('event.get', event)}`;
    const name = event.name ?? event.source;
    return { title: `Event ${name}`, state: mark(event.outcome, OUTCOME_PAINTS[event.outcome]), content };
  },
};

async function becameOfEvent(event: Projected<'event.get'>, { ask, display }: PageRequest): Promise<string | null> {
  const { approval_id: approvalId, job_id: jobId } = event;
  const [approval, job] = await Promise.all([
    approvalId === null ? null : ask('approval.get', 'approval.get', { id: approvalId }).catch(gone),
    jobId === null ? null : ask('job.get', 'job.get', { id: jobId }).catch(gone),
  ]);
  return becameOf({ approval, job }, display.nowMs);
}

/** What retention has removed. */
function gone(error: unknown): null {
  if (error instanceof Failure) return null;
  throw error;
}

const WEBHOOKS = plainPage({
  path: '/webhooks',
  section: 'Events',
  title: 'Webhooks',
  parts: [{ operation: 'webhook.list', kind: 'webhook.list' }],
});

export const EVENTS: AreaPages = { pages: [LIST, EVENT, WEBHOOKS] };
