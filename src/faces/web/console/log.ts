/** The log of a job: each event has the number that the API gives it, which is its link too. */
import type { Projected } from '../../../operations/views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { eventText } from '../../text/views/job-event.ts';
import { ansiHtml } from './ansi.ts';

type Event = Projected<'job.events'>[number];

export function logHtml(events: Projected<'job.events'>): Html {
  if (events.length === 0) return html`<p class="empty">There is no output here.</p>\n`;
  return html`<div class="log panel mono">\n${events.map(line)}</div>\n`;
}

/** Characters of a line that a page shows. */
const LINE_MAX = 4_096;

function shortened(text: string): string {
  return text.length <= LINE_MAX ? text : `${text.slice(0, LINE_MAX)}… (${text.length} characters)`;
}

function line(event: Event): Html {
  const dress = event.type === 'log' ? (event.stream === 'stderr' ? html` class="err"` : html``) : html` class="state"`;
  const text = event.type === 'log' ? ansiHtml(shortened(event.text)) : html`${eventText(event)}`;
  return html`<div id="L${event.seq}"${dress}><a href="#L${event.seq}">${event.seq}</a><span>${text}</span></div>\n`;
}
