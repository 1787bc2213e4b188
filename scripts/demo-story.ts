/**
 * `npm run demo -- --keep --story`: the console on a week of jobs, alerts, checks and approvals that were made up. No
 * daemon works on them: nothing of the week runs again, and none of its targets is probed.
 */
import { systemClock } from '../src/lib/clock.ts';
import { HandClock } from '../test/support/clock.ts';
import { tellWeek } from '../test/support/console/week.ts';
import { startProgram } from '../test/support/program.ts';
import { say } from './demo-service.ts';

const WEEK_MS = 7 * 86_400_000;

/** Shows it until the promise resolves; then nothing of it is left. */
export async function showStory(interrupted: Promise<unknown>): Promise<void> {
  const past = new HandClock(Date.now() - WEEK_MS);
  let isOver = false;
  const clock = { ...systemClock, now: () => (isOver ? systemClock : past).now() };
  const endings: (() => Promise<void>)[] = [];
  try {
    const program = await startProgram({ after: (step) => void endings.push(step) }, { clock });
    await tellWeek(program, past);
    isOver = true;
    say(`The console with a week of made-up data, without a daemon: ${program.url}`);
    say(`Sign in with this token: ${program.tokens.operator}`);
    say('Ctrl-C ends it and removes its data.');
    await interrupted;
  } finally {
    for (const end of endings.toReversed()) await end();
  }
}
