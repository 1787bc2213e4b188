import type { Display } from '../../text/display.ts';
import { paint } from '../../text/display.ts';
import { inline } from '../../text/safe.ts';
import { render } from '../render.ts';
import { cutLine } from '../terminal-text.ts';
import { isTrouble, type Snapshot } from './snapshot.ts';

/** The second screen of a terminal, without a cursor, and long lines cut; and back. */
export const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
export const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';

/** Lines of titles and between the parts. */
const FRAME_LINES = 7;
/** Of the lines that are left, jobs get at least half. */
const SHARE = 4;

interface Frame {
  readonly snapshot: Snapshot;
  /** Where it was read. */
  readonly place: string;
  /** Why the last look failed; null if it did not. */
  readonly fault: string | null;
  readonly rows: number;
}

/** The whole screen, drawn over the last one from its first line on, without flicker. */
export function draw(frame: Frame, display: Display): string {
  return `\u001b[H${linesOf(frame, display)
    .slice(0, frame.rows)
    .map((text) => `${text}\u001b[K`)
    .join('\r\n')}\u001b[J`;
}

function linesOf({ snapshot, place, fault, rows }: Frame, display: Display): string[] {
  const { jobs, approvals, checks } = snapshot;
  const share = Math.max(2, Math.floor((rows - FRAME_LINES) / SHARE));
  const trouble = checks.filter(isTrouble);
  const waiting = part('approval.list', approvals, share, display);
  const failing = trouble.length === 0 ? [] : part('check.list', trouble, share, display);
  const left = Math.max(2, rows - FRAME_LINES - waiting.length - failing.length);
  const bold = (text: string): string => paint(display, 'bold', text);
  const state = fault === null ? '' : `  ${paint(display, 'red', inline(`no answer: ${fault}`))}`;
  const time = new Date(display.nowMs).toISOString().slice(11, 19);
  return [
    `${bold(`svc watch  ${inline(place)}`)}  ${time}Z  q ends it${state}`,
    '',
    bold(`Approvals: ${approvals.length} pending`),
    ...waiting,
    '',
    bold(`Jobs: ${countOf(jobs, 'running')} running, ${countOf(jobs, 'queued')} queued`),
    ...part('job.list', jobs, left, display),
    '',
    bold(`Checks: ${trouble.length} down of ${checks.length}`),
    ...failing,
  ];
}

function countOf(jobs: Snapshot['jobs'], state: string): number {
  return jobs.filter((job) => job.state === state).length;
}

/** The table of a list in at most `lines` lines, with the number of rows that are left out. */
function part(kind: string, rows: readonly unknown[], lines: number, display: Display): string[] {
  const all = render(kind, rows, display)
    .trimEnd()
    .split('\n')
    .map((text) => cutLine(text, display.width));
  if (all.length <= lines) return all;
  const more = all.length - lines + 1;
  return [...all.slice(0, lines - 1), paint(display, 'dim', `and ${more} more`)];
}
