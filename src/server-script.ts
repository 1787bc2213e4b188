import { pathToFileURL } from 'node:url';
import { systemClock } from './lib/clock.ts';
import { type CompiledScript, openScript } from './lib/files/compiled-script.ts';
import { programEntry } from './lib/files/program-files.ts';

/** The start is over by then, in milliseconds, and what it needed is not given back yet (app/run/start-memory.ts). */
const KEEP_AFTER_MS = 4_000;

/** What the script evaluates to: the bundle of server.ts, as a function of the place of its file. */
type Program = (file: string, url: string) => typeof import('./server.ts');

/** In a bundle: the program for a verb that stays, one script, which starts in 5/6 of the time once it was compiled. */
export async function runServer(): Promise<void> {
  const file = programEntry('server');
  const script = openScript(file);
  const { runServer: run } = (script.run() as Program)(file, pathToFileURL(file).href);
  systemClock.after(KEEP_AFTER_MS, () => void keep(script));
  await run();
}

async function keep(script: CompiledScript): Promise<void> {
  try {
    await script.keep();
  } catch {
    // Later starts only take longer.
  }
}
