import type { JobState } from '../../../domain/jobs/job.ts';
import { orderEntries } from '../../../domain/jobs/order-words.ts';
import { readableWord } from '../../../domain/shell-word.ts';
import type { Projected } from '../../../views/views.ts';
import { eventText } from './job-event.ts';
import type { Display, Paint } from '../../text/display.ts';
import { command, paint } from '../../text/display.ts';
import { inline } from '../../text/safe.ts';
import { marked } from '../../text/marks.ts';
import { sheet, type Sheet, table, type Table } from '../../text/blocks.ts';
import { absolute, relative, took } from '../../text/time.ts';

export const JOB_PAINTS: Readonly<Record<JobState, Paint>> = {
  awaiting_approval: 'magenta',
  queued: 'blue',
  running: 'cyan',
  succeeded: 'green',
  failed: 'red',
  degraded: 'yellow',
  cancelled: 'dim',
  interrupted: 'yellow',
};

function jobs(data: Projected<'job.list'>, display: Display): Table {
  return table(data, 'No jobs.', [
    { title: 'STATE', cell: (job) => marked(display, job.state), paint: (job) => JOB_PAINTS[job.state] },
    { title: 'ID', cell: (job) => job.id },
    { title: 'WHAT', cell: (job) => job.runbook + (job.privileged === true ? ' (privileged)' : ''), mayCut: true },
    { title: 'BY', cell: (job) => job.requested_by, mayCut: true, mayDrop: true },
    { title: 'CREATED', cell: (job) => relative(job.created_at, display.nowMs) },
    { title: 'TOOK', cell: (job) => took(job.started_at, job.finished_at, display.nowMs), mayDrop: true },
    { title: 'EXIT', cell: (job) => (job.exit_code === null ? '-' : String(job.exit_code)), mayDrop: true },
  ]);
}

function job(data: Projected<'job.get'>, display: Display): Sheet {
  const { progress } = data;
  return sheet([
    ['Job', data.id],
    ['State', marked(display, data.state)],
    ['Reason', data.reason],
    ['What', data.runbook],
    ['Privileged', data.privileged === true ? 'yes, outside the sandbox' : null],
    ['Workspace', data.workspace],
    ['Source', data.source],
    ['Key', data.concurrency_key],
    ['Asked by', `${data.requested_by} (${data.trigger})`],
    ['Because', data.because],
    ['Event', data.event_id],
    ['Approval', data.approval_id],
    ['Again for', data.redrive_of ?? data.rerun_of],
    ['Plan', data.plan_artifact_id],
    ['Node', data.node],
    [
      'Progress',
      [progress?.play, progress?.task].filter((part) => part !== undefined && part !== '').join(': ') || null,
    ],
    ['Created', absolute(data.created_at, display.nowMs)],
    ['Started', absolute(data.started_at, display.nowMs)],
    ['Finished', absolute(data.finished_at, display.nowMs)],
    ['Expires', data.expires_at === undefined ? null : absolute(data.expires_at, display.nowMs)],
    ['Took', took(data.started_at, data.finished_at, display.nowMs)],
    ['Exit code', data.exit_code === null ? '-' : String(data.exit_code)],
  ]);
}

function order(data: Projected<'order'>): Sheet {
  return sheet(orderEntries(data));
}

function events(data: Projected<'job.events'>): Table {
  return table(data, 'No events.', [
    { title: 'SEQ', cell: (event) => String(event.seq) },
    { title: 'AT', cell: (event) => event.at },
    {
      title: 'WHAT',
      cell: (event) => (event.type === 'log' ? event.stream : event.type),
      paint: (event) => (event.type === 'log' ? undefined : 'bold'),
    },
    { title: 'TEXT', cell: eventText, mayWrap: true },
  ]);
}

function redrive(data: Projected<'job.redrive'>): Table {
  return table(data, 'No jobs to queue again.', [
    { title: 'OLD', cell: (pair) => pair.old_job_id },
    { title: 'NEW', cell: (pair) => pair.new_job_id ?? (pair.skipped === undefined ? '(not queued)' : '-') },
    { title: 'LEFT OUT', cell: (pair) => pair.skipped ?? '', mayWrap: true },
  ]);
}

function enqueued({ job_id: id, state }: Projected<'job.enqueued'>, display: Display): string {
  return `${inline(`Job ${id} is ${state}.`)}\n${inline(`Follow it with: ${command(display, `job tail ${id}`)}`)}\n`;
}

/** What a cancellation did. */
export function cancelled({ id, state, approval_id: approval }: Projected<'job.get'>, display: Display): string {
  if (state !== 'cancelled')
    return (
      `${inline(`Job ${id} is ${state} and was asked to stop; a program that does not is ended after 10s.`)}\n` +
      `${inline(`Follow it with: ${command(display, `job tail ${id}`)}`)}\n`
    );
  return `${inline(`Job ${id} is cancelled.${approval === null ? '' : ` Its approval was ${approval}.`}`)}\n`;
}

/** One line that a POSIX shell reads as these words, after comments with what the job may write. */
function commandLine({ command: words, writable = [] }: Projected<'job.command'>): string {
  return `${writable.map((path) => `# writable: ${inline(path)}\n`).join('')}${words.map(readableWord).join(' ')}\n`;
}

function result(data: Projected<'command.result'>, display: Display): string {
  if (data.hosts.length === 0) return `Job ${data.job_id} is ${data.state}: nothing ran.\n`;
  return data.hosts
    .map((host) => {
      const status = paint(display, host.status === 'ok' ? 'green' : 'red', host.status);
      const head = `${paint(display, 'bold', host.host)}: ${status}, exit code ${host.rc ?? '-'}\n`;
      return head + closed(host.stdout) + (host.stderr === '' ? '' : `-- stderr\n${closed(host.stderr)}`);
    })
    .join('\n');
}

/** Ends with a line end, so that the next text begins a line. */
function closed(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

export const JOBS_TEXTS = {
  'job.list': jobs,
  'job.get': job,
  'job.events': events,
  'job.enqueued': enqueued,
  'job.redrive': redrive,
  'job.command': commandLine,
  order,
  'command.result': result,
};
