import { statSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { basename, join } from 'node:path';
import { readAhead } from './read-ahead.ts';

/** The files of a script whose compiled form is kept (compiled-script.ts). They are being read. */
export interface ScriptFiles {
  readonly file: string;
  readonly text: Promise<Buffer | null>;
  /** Where the compiled form is, or will be; null without a folder for it. */
  readonly kept: string | null;
  readonly compiled: Promise<Buffer | null>;
}

/**
 * Begins to read them, so that their reading takes no time from what is loaded before the script can run. The compiled
 * form is in the folder of the compile cache, which belongs to this user, this version of Node and its flags. Copies of
 * one build share it: its name has the name and the size of the script, and openScript checks that it is for this text.
 * Throws the system's error without the script.
 */
export function readScriptFiles(file: string, folder = getCompileCacheDir()): ScriptFiles {
  const { size } = statSync(file);
  const kept = folder === undefined ? null : join(folder, `${basename(file)}-${size}`);
  return { file, text: readAhead(file), kept, compiled: kept === null ? Promise.resolve(null) : readAhead(kept) };
}
