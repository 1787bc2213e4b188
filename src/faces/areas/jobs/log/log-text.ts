/** The log of a job as text: what `svc job tail` prints of it. */
import type { JobEvent } from '../../../../domain/jobs/job.ts';
import type { Projected } from '../../../../views/views.ts';
import { line } from '../../../text/safe.ts';
import { terminalLine } from '../../../text/terminal-line.ts';
import { eventText } from '../job-event.ts';

type Ask = (part: { readonly since?: number; readonly last?: number }) => Promise<Projected<'job.events'>>;

/** All events that there are now, a part at a time: what is printed after that is left out. */
export async function* logTexts(ask: Ask): AsyncGenerator<string> {
  const end = (await ask({ last: 1 })).at(-1)?.seq ?? 0;
  for (let since = 0; since < end;) {
    const events = await ask({ since });
    yield events.map(textOf).join('');
    since = events.at(-1)?.seq ?? end;
  }
}

/** Whole lines, without colours; what is no output is marked, and progress has no line. */
function textOf(event: JobEvent): string {
  if (event.type === 'progress') return '';
  if (event.type === 'state' || event.stream === 'system') return line(`-- ${eventText(event)}`);
  return `${terminalLine(event.text, false)}\n`;
}
