import type { Projected } from '../../../operations/views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { textOf } from '../../text/render.ts';
import { timeLeft } from '../../text/time.ts';
import { blocksHtml } from '../console/blocks.ts';
import type { Page, PageRequest } from './page.ts';

const JOBS = 10;
const FAILURES = 5;
/** An older failure is no longer shown, in milliseconds. */
const RECENT_MS = 86_400_000;
const NEXT = 5;

/** In the order of what a person must do: decide, mend, watch, know. */
export const OVERVIEW: Page = {
  path: '/',
  section: 'Overview',
  title: 'Overview',
  reads: ['job.list', 'approval.list', 'check.list', 'schedule.list', 'event.summary'],
  async show(request) {
    const { ask } = request;
    const [approvals, jobs, failed, checks, schedules, events] = await Promise.all([
      ask('approval.list', 'approval.list'),
      ask('job.list', 'job.list', { limit: JOBS }),
      ask('job.list', 'job.list', { state: 'failed', limit: FAILURES }),
      ask('check.list', 'check.list'),
      ask('schedule.list', 'schedule.list'),
      ask('event.summary', 'event.summary'),
    ]);
    const content = html`${waiting(approvals, request)}${attention(failed, checks, request)}<h2>Newest jobs</h2>
${shown('job.list', jobs, request)}<p><a href="${request.url('/jobs')}">All jobs</a></p>
<div class="cards">
<section><h2>Checks</h2>\n${checksLine(checks)}</section>
<section><h2>Next on the schedule</h2>\n${nextRuns(schedules, request)}</section>
<section><h2>Events since the beginning</h2>\n${shown('event.summary', events, request)}</section>
</div>
`;
    return { title: 'Overview', content };
  },
};

function shown<V extends 'job.list' | 'event.summary'>(kind: V, data: Projected<V>, request: PageRequest): Html {
  return blocksHtml(textOf(kind, data, request.display), request);
}

function waiting(all: Projected<'approval.list'>, { url, display }: PageRequest): Html {
  if (all.length === 0) return html``;
  const rows = all
    .toSorted((a, b) => a.expires_at.localeCompare(b.expires_at))
    .slice(0, JOBS)
    .map(
      ({ id, runbook, summary, requested_by: by, expires_at: end }) =>
        html`<li><a href="${url(`/approvals/${id}`)}">${runbook}</a>: ${summary}. Asked by ${by}, \
${timeLeft(Date.parse(end) - display.nowMs)}.</li>\n`,
    );
  const people = all.length === 1 ? '1 approval needs a person' : `${all.length} approvals need a person`;
  return html`<section class="panel"><h2>${people}</h2>\n<ul>\n${rows}</ul></section>\n`;
}

function attention(failed: Projected<'job.list'>, checks: Projected<'check.list'>, request: PageRequest): Html {
  const { url, display } = request;
  const recent = failed.filter(({ finished_at: at }) => at !== null && display.nowMs - Date.parse(at) < RECENT_MS);
  const down = checks.flatMap(({ name, enabled, targets }) =>
    targets.flatMap((target) => (enabled && target.status === 'down' ? [{ check: name, target: target.name }] : [])),
  );
  if (recent.length + down.length === 0) return html`<p class="soft">Nothing failed in the last 24 hours.</p>\n`;
  const lines = [
    ...recent.map(({ id, runbook }) => html`<li><a href="${url(`/jobs/${id}`)}">${runbook}</a> failed</li>\n`),
    ...down
      .slice(0, JOBS)
      .map(
        ({ check, target }) =>
          html`<li><a href="${url(`/checks/${encodeURIComponent(check)}`)}">${target}</a> of ${check} is down</li>\n`,
      ),
  ];
  return html`<section class="panel"><h2>Needs attention</h2>\n<ul>\n${lines}</ul></section>\n`;
}

function checksLine(checks: Projected<'check.list'>): Html {
  if (checks.length === 0) return html`<p class="empty">There is no check.</p>\n`;
  const targets = checks.flatMap(({ enabled, targets: all }) => (enabled ? all : []));
  const counts = (['down', 'unknown', 'up'] as const).map(
    (status) => `${targets.filter((target) => target.status === status).length} ${status}`,
  );
  return html`<p>${counts.join(', ')}</p>\n`;
}

function nextRuns(schedules: Projected<'schedule.list'>, { url }: PageRequest): Html {
  const next = schedules
    .flatMap(({ name, enabled, next_at: at }) => (enabled && at !== null ? [{ name, at }] : []))
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .slice(0, NEXT);
  if (next.length === 0) return html`<p class="empty">Nothing is scheduled.</p>\n`;
  const rows = next.map(({ name, at }) => html`<li><time datetime="${at}">${at.slice(0, 16)}Z</time> ${name}</li>\n`);
  return html`<ul>\n${rows}</ul>\n<p><a href="${url('/schedules')}">All schedules</a></p>\n`;
}
