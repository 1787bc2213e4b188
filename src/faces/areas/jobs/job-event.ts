import type { JobEvent } from '../../../domain/jobs/job.ts';

/** The text of a job event: one line or, for output, as it was printed. Not yet safe to show. */
export function eventText(event: JobEvent): string {
  if (event.type === 'log') return event.text;
  if (event.type === 'progress') return [event.play, event.task].filter((part) => part !== '').join(': ');
  return event.state + (event.exit_code === null ? '' : `, exit code ${event.exit_code}`);
}
