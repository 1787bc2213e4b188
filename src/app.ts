import type { Local } from './app/local.ts';
import type { Settings } from './config/settings.ts';
import type { ProgramIo } from './faces/cli/terminal.ts';

// Each program loads what it needs and no more: the command line is started for every verb.

/** The local command line on the data directory (or the shared database) of `settings`. */
export async function openLocal(settings: Settings): Promise<Local> {
  return (await import('./app/local.ts')).openLocal(settings);
}

/** The daemon: listeners and job queue. Resolves with the exit code once it was told to stop and has. */
export async function runServe(settings: Settings, io: ProgramIo): Promise<number> {
  return (await import('./app/serve.ts')).runServe(settings, io);
}

/** Pages and API without a job queue. */
export async function runWeb(settings: Settings, io: ProgramIo): Promise<number> {
  return (await import('./app/serve.ts')).runWeb(settings, io);
}
