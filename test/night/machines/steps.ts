/** What is tried in a machine, one after the other, and what is wrong with how it ended. */
import type { Guest } from './guest.ts';
import { type End, lastLines } from './run.ts';

/** It installs 450 MB of packages from the cache, and maybe one Debian package. */
const SETUP_LIMIT_MS = 10 * 60_000;
const APT_LIMIT_MS = 5 * 60_000;
/** A demo takes 20 seconds, and its own waits end after a minute each. */
const DEMO_LIMIT_MS = 5 * 60_000;
/** The tests end themselves before, also on a slow machine. */
const TEST_LIMIT_MS = 45 * 60_000;

/** A line of a stack, which is for the authors of a program: a person gets a sentence. */
const STACK = /\n\s+at .+:\d+:\d+/;
const WARNING = /EBADENGINE/;
/** The one command that the set-up prints for an administrator. */
const COMMAND = /(?:^|[\s:`])(?:sudo )?(apt-get install [a-z0-9 .+-]*libatomic1)\b/m;
/** The last line of the tests. */
const COUNTS = /^\d+ passed, \d+ failed, \d+ skipped$/m;

export interface Outcome {
  /** Null where the step passed. */
  readonly fault: string | null;
  /** For the line of the result. */
  readonly note: string;
}

export const STEPS = { setup: setUp, demo: runDemo, test: runTests } as const satisfies Readonly<
  Record<string, (guest: Guest) => Promise<Outcome>>
>;

export type StepName = keyof typeof STEPS;

/**
 * The set-up succeeds, or an ordinary account lacks a library: then it prints the command for that, which the root of
 * the machine runs, and the second set-up succeeds.
 */
async function setUp(guest: Guest): Promise<Outcome> {
  const first = await guest.run({ step: 'setup', words: ['scripts/setup'], limitMs: SETUP_LIMIT_MS });
  if (first.code === 0 || guest.machine.account === 'root') return judge(first, 0, '');
  const [, command] = COMMAND.exec(first.output) ?? [];
  if (command === undefined) return { fault: describe(first, 'printed no command that installs libatomic1'), note: '' };
  const refused = judge(first, 1, '');
  if (refused.fault !== null) return refused;
  for (const words of ['apt-get update', `${command} --yes`].map((each) => each.split(' '))) {
    const installed = await guest.run({ step: 'library', words, limitMs: APT_LIMIT_MS, account: 'root' });
    if (installed.code !== 0) return { fault: describe(installed, `${words.join(' ')} failed`), note: '' };
  }
  const second = await guest.run({ step: 'setup-again', words: ['scripts/setup'], limitMs: SETUP_LIMIT_MS });
  return judge(second, 0, `after "${command}" as root`);
}

async function runDemo(guest: Guest): Promise<Outcome> {
  const end = await guest.run({ step: 'demo', words: ['npm', 'run', 'demo'], limitMs: DEMO_LIMIT_MS });
  const leftOut = end.output.split('\n').filter((line) => line.startsWith('Left out')).length;
  return judge(end, 0, leftOut === 0 ? '' : `${leftOut} left out`);
}

async function runTests(guest: Guest): Promise<Outcome> {
  const end = await guest.run({ step: 'test', words: ['npm', 'test'], limitMs: TEST_LIMIT_MS });
  const [counts] = COUNTS.exec(end.output) ?? [];
  // A failing test prints the stack of its assertion.
  if (end.code !== 0) return { fault: describe(end, `ended with ${end.code}`), note: counts ?? '' };
  if (counts === undefined) return { fault: describe(end, 'did not count the tests'), note: '' };
  return { fault: null, note: counts };
}

function judge(end: End, expected: number, note: string): Outcome {
  if (end.code !== expected) return { fault: describe(end, `ended with ${end.code}, expected ${expected}`), note };
  if (STACK.test(end.output)) return { fault: describe(end, 'printed a stack'), note };
  if (WARNING.test(end.output)) return { fault: describe(end, 'printed a warning about the version of Node'), note };
  return { fault: null, note };
}

function describe(end: End, fault: string): string {
  return `${end.isOverdue ? 'did not end in time' : fault}; the end of the output:\n${lastLines(end.output)}`;
}
