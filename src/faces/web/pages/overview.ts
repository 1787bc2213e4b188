import type { Projected } from '../../../views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { timeLeft } from '../../../domain/duration.ts';
import { clockTime, relative } from '../../text/time.ts';
import { JOB_PAINTS } from '../../areas/jobs/text.ts';
import { mark } from '../../console/marks.ts';
import { PENDING, pendingText } from '../../console/pending.ts';
import type { Page, PageRequest } from '../../console/page.ts';

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
      ask('approval.list', 'approval.list', PENDING),
      ask('job.list', 'job.list', { limit: JOBS }),
      troubled(request),
      ask('check.list', 'check.list'),
      ask('schedule.list', 'schedule.list'),
      ask('event.summary', 'event.summary'),
    ]);
    const content = html`${waiting(approvals, request)}${attention(failed, checks, request)}<h2>Newest jobs</h2>
${request.view('job.list', jobs)}<p><a href="${request.url('/jobs')}">All jobs</a></p>
<div class="cards">
<section><h2>Checks</h2>\n${checksLine(checks)}</section>
<section><h2>Next on the schedule</h2>\n${nextRuns(schedules, request)}</section>
<section><h2>Events since the beginning</h2>\n${request.view('event.summary', events)}</section>
</div>
`;
    return { title: 'Overview', content };
  },
};

function waiting(all: Projected<'approval.list'>, { url, display }: PageRequest): Html {
  if (all.length === 0) return html``;
  const rows = all
    .toSorted((a, b) => a.expires_at.localeCompare(b.expires_at))
    .slice(0, JOBS)
    .map(
      ({ id, runbook, summary, requested_by: by, expires_at: end }) =>
        html`<li><a href="${url(`/approvals/${id}`)}">${runbook}</a> <q><bdi>${summary}</bdi></q>, asked by \
<bdi>${by}</bdi>, ${timeLeft(Date.parse(end) - display.nowMs)}</li>\n`,
    );
  const people = all.length === 1 ? '1 approval needs a person' : `${pendingText(all.length)} approvals need a person`;
  const more = html`<p><a href="${url('/approvals')}">All ${pendingText(all.length)}</a></p>\n`;
  return html`<section class="panel"><h2>${people}</h2>
<ul>\n${rows}</ul>${all.length > JOBS ? more : html``}</section>\n`;
}

/** States of jobs that somebody has to look at, the most urgent first. */
const ALARMING = ['interrupted', 'failed', 'degraded'] as const;

/** The newest ended jobs of a day in these states. */
async function troubled({ ask, display }: PageRequest): Promise<Projected<'job.list'>> {
  const lists = await Promise.all(ALARMING.map((state) => ask('job.list', 'job.list', { state, limit: FAILURES + 1 })));
  return lists.flat().filter(({ finished_at: at }) => at !== null && display.nowMs - Date.parse(at) < RECENT_MS);
}

function attention(jobs: Projected<'job.list'>, checks: Projected<'check.list'>, request: PageRequest): Html {
  const { url, display } = request;
  const down = checks.flatMap(({ name, enabled, targets }) =>
    targets.flatMap((target) => (enabled && target.status === 'down' ? [{ check: name, ...target }] : [])),
  );
  if (jobs.length + down.length === 0)
    return html`<p class="soft">No job failed or was interrupted in the last 24 hours.</p>\n`;
  const ended = ALARMING.map((state) => {
    const all = jobs.filter((job) => job.state === state);
    const lines = all.slice(0, FAILURES).map(
      ({ id, runbook, requested_by: by, finished_at: at }) =>
        html`<li>${mark(state, JOB_PAINTS[state])} <a href="${url(`/jobs/${id}`)}">${runbook}</a>, \
${relative(at, display.nowMs)}, asked by <bdi>${by}</bdi></li>\n`,
    );
    const rest = html`<li><a href="${url(`/jobs?state=${state}`)}">More that are ${state}</a></li>\n`;
    return html`${lines}${all.length > FAILURES ? rest : html``}`;
  });
  const targets = down.slice(0, JOBS).map(
    ({ check, name, never_up: neverUp }) =>
      html`<li>${mark('down', 'red')} \
<a href="${url(`/checks/${encodeURIComponent(check)}`)}">${name}</a> of ${check}\
${neverUp === true ? ', never up' : ''}</li>\n`,
  );
  const others = html`<li><a href="${url('/checks')}">${down.length - JOBS} more are down</a></li>\n`;
  return html`<section class="panel"><h2>Needs attention</h2>
<ul>\n${ended}${targets}${down.length > JOBS ? others : html``}</ul></section>\n`;
}

function checksLine(checks: Projected<'check.list'>): Html {
  if (checks.length === 0) return html`<p class="empty">There is no check.</p>\n`;
  const targets = checks.flatMap(({ enabled, targets: all }) => (enabled ? all : []));
  const counts = (['down', 'unknown', 'up'] as const).map(
    (status) => `${targets.filter((target) => target.status === status).length} ${status}`,
  );
  return html`<p>${counts.join(', ')}</p>\n`;
}

function nextRuns(schedules: Projected<'schedule.list'>, { url, display: { nowMs } }: PageRequest): Html {
  const next = schedules
    .flatMap(({ name, enabled, next_at: at }) => (enabled && at !== null ? [{ name, at }] : []))
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .slice(0, NEXT);
  if (next.length === 0) return html`<p class="empty">Nothing is scheduled.</p>\n`;
  const rows = next.map(
    ({ name, at }) =>
      html`<li><time datetime="${at}">${clockTime(Date.parse(at), nowMs, 'minutes')}</time> ${name}, \
${relative(at, nowMs)}</li>\n`,
  );
  return html`<ul>\n${rows}</ul>\n<p><a href="${url('/schedules')}">All schedules</a></p>\n`;
}
