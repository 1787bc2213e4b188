import { inline } from '../../text/safe.ts';
import { type Terminal, write } from '../terminal.ts';

const CLEAR = '\r\u001b[2K';

/** One line on standard error that is written over, if that is a terminal that can; else nothing is shown. */
export function progressLine({ stderr, env }: Terminal): {
  readonly show: (text: string) => Promise<void>;
  readonly clear: () => Promise<void>;
} {
  const isAble = stderr.isTTY === true && env['TERM'] !== 'dumb';
  let shown = false;
  return {
    async show(text) {
      if (!isAble) return;
      shown = true;
      // Without the wrap a long text stays on its line, where it can be removed.
      await write(stderr, `${CLEAR}\u001b[?7l… ${inline(text)}\u001b[?7h`);
    },
    async clear() {
      if (!shown) return;
      shown = false;
      await write(stderr, CLEAR);
    },
  };
}
