/** The log of a job: each event has the number that the API gives it, which is its link too. */
import type { Projected } from '../../../../views/views.ts';
import { html, type Html } from '../../../html/html.ts';
import type { Span } from '../../../text/ansi.ts';
import { BLOCK_LINES, logLine } from './log-line.ts';

type Event = Projected<'job.events'>[number];

interface LogParts {
  readonly events: readonly Event[];
  /** The number of the event before the first one: a part of a log may be empty. */
  readonly after: number;
  /** Where the lines that follow come from, while the job can still have some. */
  readonly stream: string | null;
  /** Links to other parts of the log. */
  readonly ways: Html;
  /** The whole log as text. */
  readonly raw: string;
}

/** Works without scripts: the style sheet reads it. */
const WRAP = html`<label><input type="checkbox" class="wrap" autocomplete="off" checked> Wrap long lines</label>
<label><input type="checkbox" class="times" autocomplete="off"> Times (UTC)</label>\n`;

/** From this length on the links to other parts are below the log too. */
const LOG_WAYS = 40;

/** With scripts on, `client/log/log-tail.ts` appends what follows. */
export function logHtml({ events, after, stream, ways, raw }: LogParts): Html {
  const blocks = Array.from({ length: Math.ceil(events.length / BLOCK_LINES) }, (_, at) =>
    events.slice(at * BLOCK_LINES, (at + 1) * BLOCK_LINES),
  );
  const none = events.length === 0 ? html`<p class="empty">There is no output here.</p>\n` : html``;
  const source = stream === null ? html`` : html` data-stream="${stream}"`;
  return html`<section id="log" aria-label="Output" data-last="${events.at(-1)?.seq ?? after}"${source}>
<div class="ways">${ways}</div>
<p class="bar">${events.length === 0 && stream === null ? html`` : WRAP}<a href="${raw}">Raw</a></p>
${none}<div class="log panel mono"${events.length === 0 ? html` hidden` : html``}>\n\
${blocks.map((lines) => html`<div>\n${lines.map(lineHtml)}</div>\n`)}</div>
${events.length > LOG_WAYS ? html`<div class="ways">${ways}</div>\n` : html``}</section>\n`;
}

function lineHtml(event: Event): Html {
  const { seq, time, dress, spans } = logLine(event);
  const kind = dress === '' ? html`` : html` class="${dress}"`;
  return html`<div id="L${seq}" data-at="${time}"${kind}><a href="#L${seq}">${seq}</a>\
<span>${spans.map(spanHtml)}</span></div>\n`;
}

export function spanHtml({ text, classes }: Span): Html {
  return classes === '' ? html`${text}` : html`<span class="${classes}">${text}</span>`;
}
