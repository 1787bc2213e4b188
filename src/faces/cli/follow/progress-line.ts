import { inline, line } from '../../text/safe.ts';
import { terminalLine } from '../../text/terminal-line.ts';
import { type Terminal, write } from '../terminal.ts';

const CLEAR = '\r\u001b[2K';
/** Without the wrap a long text stays on its line, where it can be removed. */
const [NO_WRAP, WRAP] = ['\u001b[?7l', '\u001b[?7h'];
/** Where no line can be written over, an unfinished one is not shown again before it has been the same for so long. */
const STILL_MS = 2_000;

type Screen = Pick<Terminal, 'stderr' | 'env' | 'clock'>;

/**
 * What is shown until the next event: one line on standard error that is written over, if that is a terminal that can.
 * Elsewhere progress is not shown, and an unfinished line of the output is a marked line: at once after whole lines,
 * then once it no longer changes, so that a bar does not fill a file.
 */
export class ProgressLine {
  readonly #terminal: Screen;
  readonly #isAble: boolean;
  readonly #color: boolean;
  #isShown = false;
  /** The unfinished line that was written last. */
  #written = '';
  #isFirst = true;
  #cancel: (() => void) | undefined;

  /** `color` as the options have it. */
  constructor(terminal: Screen, color: boolean) {
    this.#terminal = terminal;
    this.#isAble = terminal.stderr.isTTY === true && terminal.env['TERM'] !== 'dumb';
    this.#color = color && terminal.stderr.isTTY === true;
  }

  async progress(text: string): Promise<void> {
    if (this.#isAble) await this.#over(`… ${inline(text)}`);
  }

  /** An empty text removes it. */
  async unfinished(text: string): Promise<void> {
    this.#cancel?.();
    if (this.#isAble) return text === '' ? this.clear() : this.#over(terminalLine(text, this.#color));
    const { stderr, clock } = this.#terminal;
    const print = (): void => {
      [this.#written, this.#isFirst] = [text, false];
      stderr.write(line(`-- no line end yet: ${terminalLine(text, false)}`));
    };
    if (text === '' || text === this.#written) return;
    if (this.#isFirst) print();
    else this.#cancel = clock.after(STILL_MS, print);
  }

  async clear(): Promise<void> {
    this.#cancel?.();
    this.#isFirst = true;
    if (!this.#isShown) return;
    this.#isShown = false;
    await write(this.#terminal.stderr, CLEAR);
  }

  async #over(text: string): Promise<void> {
    this.#isShown = true;
    await write(this.#terminal.stderr, `${CLEAR}${NO_WRAP}${text}${WRAP}`);
  }
}
