/** Folds lines of a log: groups below their headings, and what a tool repeats while it works. */
import { make } from '../trusted.ts';

export class LogFold {
  readonly #box: HTMLElement;
  readonly #groups = make('input', { type: 'checkbox' });
  readonly #noise = make('input', { type: 'checkbox', checked: true });
  /** Offered once there is a line that they are for. */
  readonly controls = [
    make('label', { hidden: true }, this.#groups, ' Fold'),
    make('label', { hidden: true }, this.#noise, ' Without refreshes'),
  ];
  /** Whether the lines of the last heading are folded. */
  #isFolded = false;

  constructor(box: HTMLElement) {
    this.#box = box;
    this.#all();
    this.#groups.addEventListener('change', () => this.#all(this.#groups.checked));
    this.#noise.addEventListener('change', () => this.#all());
    box.addEventListener('click', ({ target }) => this.#toggle(target));
    box.addEventListener('keydown', (event) => {
      if ((event.key === 'Enter' || event.key === ' ') && this.#toggle(event.target)) event.preventDefault();
    });
  }

  /** The next line in the order of the log. */
  add(line: Element): void {
    const { classList, lastElementChild: text } = line;
    if (classList.contains('group')) {
      this.#isFolded = text?.ariaExpanded === 'false' || (text?.ariaExpanded === null && this.#groups.checked);
      if (text instanceof HTMLElement)
        Object.assign(text, { role: 'button', tabIndex: 0, ariaExpanded: String(!this.#isFolded) });
      this.controls[0]?.removeAttribute('hidden');
    } else {
      const isNoise = classList.contains('noise');
      if (isNoise) this.controls[1]?.removeAttribute('hidden');
      // The browser finds what is folded, and shows it.
      if (this.#isFolded || (isNoise && this.#noise.checked)) line.setAttribute('hidden', 'until-found');
      else line.removeAttribute('hidden');
    }
  }

  /** With `folded`, all groups are. */
  #all(folded?: boolean): void {
    this.#isFolded = false;
    for (const line of this.#box.querySelectorAll('[id]')) {
      const { lastElementChild: text } = line;
      if (text !== null && text.ariaExpanded !== null && folded !== undefined) text.ariaExpanded = String(!folded);
      this.add(line);
    }
    // A block that is not drawn would keep the height that it had.
    this.#box.classList.toggle('folded', this.#groups.checked);
  }

  #toggle(target: EventTarget | null): boolean {
    const text = target instanceof Element ? target.closest('.group [role=button]') : null;
    if (text === null) return false;
    text.ariaExpanded = String(text.ariaExpanded === 'false');
    this.#all();
    return true;
  }
}
