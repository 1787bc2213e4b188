import type { Program } from './program.ts';

/** How a tool behaves. */
interface Behaves {
  readonly lines: number;
  readonly lineChars: number;
  /** Between two lines, at most. */
  readonly pauseMs: number;
  readonly exitCode: number;
  /** It does not end at SIGTERM. */
  readonly isDeaf: boolean;
}

const BRIEF: Behaves = { lines: 2, lineChars: 10, pauseMs: 400, exitCode: 0, isDeaf: false };

/** By the word of its command that names it. */
const BEHAVIOURS: Readonly<Record<string, Behaves>> = {
  succeeds: BRIEF,
  fails: { ...BRIEF, exitCode: 3 },
  hangs: { ...BRIEF, lines: 40, pauseMs: 20_000 },
  deaf: { ...BRIEF, lines: 40, pauseMs: 5_000, isDeaf: true },
  floods: { ...BRIEF, lines: 40, lineChars: 2_000, pauseMs: 20 },
};

/** The tool of a command; one that succeeds where no word names another. */
export function toolOf(argv: readonly string[]): Program {
  const name = argv.find((word) => Object.hasOwn(BEHAVIOURS, word)) ?? 'succeeds';
  const { lines, lineChars, pauseMs, exitCode, isDeaf } = BEHAVIOURS[name] ?? BRIEF;
  return {
    isDeaf,
    *run({ chance, print }) {
      yield chance.whole(1, pauseMs);
      for (let left = lines - 1; left >= 0; left -= 1) {
        print(`${name} ${left} ${'x'.repeat(lineChars)}\n`);
        yield chance.whole(1, pauseMs);
      }
      return exitCode;
    },
  };
}
