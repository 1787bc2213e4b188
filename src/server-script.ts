import { pathToFileURL } from 'node:url';
import { systemClock } from './lib/clock.ts';
import { type CompiledScript, openScript } from './lib/files/compiled-script.ts';
import type { ScriptFiles } from './lib/files/script-files.ts';

/**
 * Milliseconds. A start takes 0.4 seconds, on a slow machine some seconds; what is called later is not kept. V8's
 * flags change after this, and then the form would not be taken (app/run/start-memory.ts).
 */
const KEEP_AFTER_MS = 4_000;

/** What the script evaluates to: the bundle of server.ts, as a function of the place of its file. */
type Program = (file: string, url: string) => typeof import('./server.ts');

/**
 * In a bundle: opens the program for a verb that stays, one script, which starts sooner once it was kept.
 * Answers what runs it.
 */
export async function openServer(files: ScriptFiles): Promise<() => Promise<void>> {
  const script = await openScript(files);
  const { file } = files;
  const { runServer } = (script.run() as Program)(file, pathToFileURL(file).href);
  systemClock.after(KEEP_AFTER_MS, () => void keep(script));
  return runServer;
}

async function keep(script: CompiledScript): Promise<void> {
  try {
    await script.keep();
  } catch {
    // Later starts only take longer.
  }
}
