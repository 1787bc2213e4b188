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
export const BEHAVIOURS = {
  succeeds: BRIEF,
  fails: { ...BRIEF, exitCode: 3 },
  hangs: { ...BRIEF, lines: 40, pauseMs: 20_000 },
  deaf: { ...BRIEF, lines: 40, pauseMs: 5_000, isDeaf: true },
  floods: { ...BRIEF, lines: 40, lineChars: 2_000, pauseMs: 20 },
} satisfies Record<string, Behaves>;

export type Behaviour = keyof typeof BEHAVIOURS;
