import { runSvc } from './program.ts';

/**
 * The program for a verb that stays. A bundle holds it, with all that it may ever need, in one file: to find and link
 * hundreds of files was a quarter of the start of a daemon, and an upgrade may replace the files of one that runs.
 */
export async function runServer(): Promise<void> {
  await runSvc();
}
