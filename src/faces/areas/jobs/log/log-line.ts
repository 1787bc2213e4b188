/** How a line of a log is shown, for pages and for their script, which appends lines as they come. */
import type { JobEvent } from '../../../../domain/jobs/job.ts';
import { block } from '../../../text/safe.ts';
import { eventText } from '../job-event.ts';
import { ansiSpans, type Span } from '../../../text/ansi.ts';

/** Lines of one block: a browser lays out only the blocks that are seen. */
export const BLOCK_LINES = 200;
/** Characters of a line that a page shows. */
const LINE_MAX = 4_096;

/** Begins a play or a task of Ansible, or a phase of Terraform or OpenTofu. */
const HEAD = /^(?:(?:PLAY|TASK|RUNNING HANDLER) \[|PLAY RECAP|Initializing |\w+ will perform |Plan: |\w+ complete!)/;
/** Says only that a resource is still being read or waited for. */
const NOISE = /: (?:Refreshing state|Reading|Still [a-z]+)\.\.\.|: Read complete after /;

interface LogLine {
  readonly seq: number;
  /** The class of the line; empty for other standard output. */
  readonly dress: '' | 'err' | 'state' | 'group' | 'noise';
  /** Of the day, in UTC: `14:03:40`. */
  readonly time: string;
  /** With what is invisible or reorders letters as escapes. */
  readonly spans: readonly Span[];
}

export function logLine(event: JobEvent): LogLine {
  const { seq } = event;
  const time = event.at.slice(11, 19);
  if (event.type !== 'log')
    return { seq, time, dress: 'state', spans: [{ text: block(eventText(event)), classes: '' }] };
  const spans = outputSpans(event.text);
  return {
    seq,
    time,
    dress: event.stream === 'stderr' ? 'err' : dressOf(spans.map(({ text }) => text).join('')),
    spans,
  };
}

/** Of a line of output, or of one that has not ended. */
export function outputSpans(text: string): Span[] {
  return ansiSpans(shortened(text)).map(({ text: part, classes }) => ({ text: block(part), classes }));
}

function dressOf(text: string): LogLine['dress'] {
  if (HEAD.test(text)) return 'group';
  return NOISE.test(text) ? 'noise' : '';
}

function shortened(text: string): string {
  return text.length <= LINE_MAX ? text : `${text.slice(0, LINE_MAX)}… (${text.length} characters)`;
}
