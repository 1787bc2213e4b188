/** How far a job is: what it does, for how long, and how long the same took before. It is never a share of the work. */
import type { Projected } from '../../../views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { took } from '../../text/time.ts';
import type { PageRequest } from '../../console/page.ts';

type Job = Projected<'job.get'>;

/** Jobs of the same runbook that are looked at, and successes among them that count. */
const JOBS_READ = 30;
const SUCCESSES = { least: 3, most: 10 };

/** Nothing for a job that does not run. */
export async function progressHtml(job: Job, request: PageRequest): Promise<Html> {
  const { state, progress, started_at: started } = job;
  if (state !== 'running' || progress === undefined || started === null) return html``;
  const usualMs = await usually(job, request);
  const elapsedMs = progress.elapsed_seconds * 1_000;
  const words = [
    ...(progress.play === '' ? [] : [html`play <b>${progress.play}</b> · `]),
    ...(progress.task === '' ? [] : [html`task <b>${progress.task}</b> · `]),
  ];
  const elapsed = html`<p class="progress">${words}${lasting(elapsedMs)}`;
  if (usualMs === null) return html`${elapsed}</p>\n`;
  const usual = elapsedMs > usualMs ? 'longer than the usual' : 'usually';
  return html`${elapsed}, ${usual} ${lasting(usualMs)} \
<progress aria-label="Elapsed, of the usual time" max="${usualMs}" \
value="${Math.min(elapsedMs, usualMs)}"></progress></p>\n`;
}

function lasting(ms: number): string {
  return took(new Date(0).toISOString(), null, ms);
}

/** The median of the last successes, in milliseconds; null where there are too few of them. */
async function usually({ runbook }: Job, { ask }: PageRequest): Promise<number | null> {
  const jobs = await ask('job.list', 'job.list', { runbook, limit: JOBS_READ });
  const durations = jobs
    .flatMap(({ state, started_at: from, finished_at: to }) =>
      state === 'succeeded' && from !== null && to !== null ? [Date.parse(to) - Date.parse(from)] : [],
    )
    .slice(0, SUCCESSES.most)
    .toSorted((a, b) => a - b);
  return durations.length < SUCCESSES.least ? null : (durations[Math.floor(durations.length / 2)] ?? null);
}
