/**
 * `npm run demo -- --keep --story`: the console on a week of jobs, alerts, checks and approvals that were made up. No
 * daemon works on them: nothing of the week runs again, and none of its targets is probed.
 */
import { type Clock, systemClock } from '../src/lib/clock.ts';
import { HandClock } from '../test/support/clock.ts';
import { tellWeek } from '../test/support/console/week.ts';
import { type Ending, type Program, startProgram } from '../test/support/program.ts';
import { say } from './demo-service.ts';
import { within } from './demo-wait.ts';

const WEEK_MS = 7 * 86_400_000;
/** It writes some thousand rows. */
const STORY_LIMIT_MS = 180_000;
/** Of a listener and a store, which are ended one after the other. */
const END_LIMIT_MS = 30_000;

/** Shows it until the promise resolves; then nothing of it is left. */
export async function showStory(interrupted: Promise<unknown>): Promise<void> {
  const past = new HandClock(Date.now() - WEEK_MS);
  let isOver = false;
  const clock = { ...systemClock, now: () => (isOver ? systemClock : past).now() };
  const endings: (() => Promise<void>)[] = [];
  try {
    const making = makeProgram({ after: (step) => void endings.push(step) }, clock, past);
    const program = await within(making, STORY_LIMIT_MS, 'the week of made-up data');
    isOver = true;
    say(`The console with a week of made-up data, without a daemon: ${program.url}`);
    say(`Sign in with this token: ${program.tokens.operator}`);
    say('Ctrl-C ends it and removes its data.');
    await interrupted;
  } finally {
    for (const end of endings.toReversed()) await within(end(), END_LIMIT_MS, 'the end of the console');
  }
}

async function makeProgram(ending: Ending, clock: Clock, past: HandClock): Promise<Program> {
  const program = await startProgram(ending, { clock });
  await tellWeek(program, past);
  return program;
}
