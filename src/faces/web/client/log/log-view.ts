/** The lines of a log on the page: appended in order, bounded, and followed until somebody reads further up. */
import type { JobEvent } from '../../../../domain/jobs/job.ts';
import { BLOCK_LINES, logLine, outputSpans } from '../../../areas/jobs/log/log-line.ts';
import type { Span } from '../../../text/ansi.ts';
import { LogFind } from './log-find.ts';
import { LogFold } from './log-fold.ts';
import { markLines, toFirstError } from './log-marks.ts';
import { make } from '../trusted.ts';

/** What is above is left out at the top, in whole blocks. */
const LINES_MAX = 50_000;
const CHARACTERS_MAX = 16_777_216;
/** Keys that move up in what has the focus. */
const UP = ['ArrowUp', 'PageUp', 'Home'];
/** So close to its end the box is at its end, in pixels. */
const END_PX = 4;

export class LogView {
  readonly #box: HTMLElement;
  readonly #range: HTMLElement | null;
  readonly #empty: HTMLElement | null;
  readonly #fold: LogFold;
  readonly #follow = make('input', { type: 'checkbox' });
  readonly #more = make('button', { type: 'button', hidden: true });
  readonly #state = make('span', { role: 'status' });
  readonly #partial = make('p', { className: 'mono open' });
  #first: number;
  #last: number;
  #lines: number;
  #characters: number;
  #unseen = 0;
  #top = 0;
  #planned = false;

  constructor(section: HTMLElement, box: HTMLElement, isOpen: boolean) {
    this.#box = box;
    this.#range = section.querySelector('.ways span');
    this.#empty = section.querySelector('.empty');
    this.#last = Number(section.dataset['last']);
    this.#lines = box.querySelectorAll('[id]').length;
    this.#characters = box.textContent.length;
    this.#first = this.#last - this.#lines + 1;
    const follow = make('label', {}, this.#follow, ' Follow');
    this.#fold = new LogFold(box);
    const find = new LogFind(box, () => this.#setFollow(false));
    const controls = [follow, ...this.#fold.controls, ...find.controls, this.#state, this.#more];
    section.querySelector('.bar')?.append(...controls);
    box.after(this.#partial);
    box.tabIndex = 0;
    box.classList.add('tail');
    box.role = 'group';
    box.ariaLabel = 'Lines of the output';
    this.#listen();
    const isPlain = ['', '#output'].includes(location.hash);
    this.#follow.checked = isOpen && isPlain;
    this.#plan();
    markLines(box);
    if (isPlain && !isOpen) toFirstError(box);
  }

  /** The number of the newest event. */
  get last(): number {
    return this.#last;
  }

  say(text: string): void {
    if (this.#state.textContent !== text) this.#state.textContent = text;
  }

  /** False for an event that does not come next: it is there already, or one before it is missing. */
  append(event: JobEvent): boolean {
    if (event.seq !== this.#last + 1) return false;
    const { seq, time, dress, spans } = logLine(event);
    const number = make('a', { href: `#L${seq}` }, String(seq));
    const line = make('div', { id: `L${seq}`, className: dress }, number, make('span', {}, ...drawn(spans)));
    line.dataset['at'] = time;
    return this.#add(line);
  }

  /** A line as the service has rendered it; false as with `append`. */
  take(line: HTMLElement): boolean {
    return line.id === `L${this.#last + 1}` && this.#add(document.adoptNode(line));
  }

  /** The line that has not ended; the next one that has ends it. */
  open(text: string): void {
    this.#partial.replaceChildren(...drawn(outputSpans(text)));
  }

  #add(line: HTMLElement): true {
    this.open('');
    let block = this.#box.lastElementChild;
    if (block === null || block.childElementCount >= BLOCK_LINES) this.#box.append((block = make('div')));
    block.append(line);
    this.#fold.add(line);
    this.#last += 1;
    this.#lines += 1;
    this.#unseen += 1;
    this.#characters += line.textContent.length;
    this.#plan();
    return true;
  }

  /** Once before the browser draws, however many lines came. */
  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    requestAnimationFrame(() => {
      this.#planned = false;
      this.#bound();
      if (this.#follow.checked) this.#toEnd();
      this.#tell();
    });
  }

  #bound(): void {
    while (this.#lines > LINES_MAX || this.#characters > CHARACTERS_MAX) {
      const block = this.#box.firstElementChild;
      if (block === null || block === this.#box.lastElementChild) return;
      this.#lines -= block.childElementCount;
      this.#first += block.childElementCount;
      this.#characters -= block.textContent.length;
      block.remove();
    }
  }

  #tell(): void {
    const isEmpty = this.#lines === 0;
    this.#box.hidden = isEmpty;
    if (!isEmpty) this.#empty?.remove();
    if (this.#range !== null && !isEmpty) this.#range.textContent = `Lines ${this.#first} to ${this.#last}.`;
    if (this.#follow.checked) this.#unseen = 0;
    this.#more.hidden = this.#follow.checked || this.#unseen === 0;
    this.#more.textContent = `↓ ${this.#unseen} new ${this.#unseen === 1 ? 'line' : 'lines'}`;
  }

  #listen(): void {
    const box = this.#box;
    box.addEventListener('wheel', ({ deltaY }) => deltaY < 0 && this.#setFollow(false), { passive: true });
    box.addEventListener('touchmove', () => this.#setFollow(false), { passive: true });
    box.addEventListener('keydown', ({ key }) => {
      if (UP.includes(key)) this.#setFollow(false);
      else if (key === 'End') this.#setFollow(true);
    });
    // Who marks a text reads it.
    document.addEventListener('selectionchange', () => {
      const selection = getSelection();
      if (selection?.isCollapsed === false && box.contains(selection.anchorNode)) this.#setFollow(false);
    });
    // Following never ends by a scroll, which may be our own; it begins again where one moves down to the end.
    box.addEventListener('scroll', () => {
      const isDown = box.scrollTop > this.#top;
      this.#top = box.scrollTop;
      if (isDown && box.scrollHeight - box.scrollTop - box.clientHeight <= END_PX) this.#setFollow(true);
    });
    this.#follow.addEventListener('change', () => this.#plan());
    this.#more.addEventListener('click', () => this.#setFollow(true));
  }

  #setFollow(on: boolean): void {
    if (this.#follow.checked === on) return;
    this.#follow.checked = on;
    this.#plan();
  }

  #toEnd(): void {
    this.#box.scrollTop = this.#box.scrollHeight;
    this.#top = this.#box.scrollTop;
  }
}

function drawn(spans: readonly Span[]): (string | Node)[] {
  return spans.map(({ text, classes }) => (classes === '' ? text : make('span', { className: classes }, text)));
}
