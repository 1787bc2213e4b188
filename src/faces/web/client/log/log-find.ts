/** Finds lines of a log, one after another, by their text or as errors. */
import { ERROR } from './log-marks.ts';
import { isSingle } from '../single-key.ts';
import { make } from '../trusted.ts';

export class LogFind {
  readonly #box: HTMLElement;
  readonly #input = make('input', { type: 'search', placeholder: 'Find', ariaLabel: 'Find in the output' });
  readonly #count = make('span', { role: 'status' });
  readonly #stop: () => void;
  readonly controls = [this.#input, this.#count];
  #at: Element | undefined;

  /** `stop` ends following. */
  constructor(box: HTMLElement, stop: () => void) {
    this.#box = box;
    this.#stop = stop;
    this.#input.addEventListener('keydown', ({ key, shiftKey }) => {
      const text = this.#input.value.toLowerCase();
      if (key === 'Enter' && text !== '') this.#step((line) => line.toLowerCase().includes(text), shiftKey ? -1 : 1);
    });
    document.addEventListener('keydown', (event) => {
      const { key } = event;
      if (isSingle(event) && key.toLowerCase() === 'e') this.#step((line) => ERROR.test(line), key === 'e' ? 1 : -1);
    });
  }

  #step(fits: (text: string) => boolean, by: 1 | -1): void {
    const lines = [...this.#box.querySelectorAll('[id]:not(.state)')];
    const found = lines.filter(({ lastElementChild: text }) => fits(text?.textContent ?? ''));
    const before = this.#at === undefined ? -1 : found.indexOf(this.#at);
    const next = before === -1 && by === -1 ? found.length - 1 : (before + by + found.length) % found.length;
    this.#at?.classList.remove('found');
    this.#at = found[next];
    this.#count.textContent = this.#at === undefined ? 'Not found' : `${next + 1} of ${found.length}`;
    if (this.#at === undefined) return;
    this.#stop();
    this.#at.removeAttribute('hidden');
    this.#at.classList.add('found');
    this.#at.scrollIntoView({ block: 'center' });
  }
}
