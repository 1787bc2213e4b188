import type { Local, Storeless } from './app/local.ts';
import type { SchemaChange } from './app/migrate.ts';
import type { Settings } from './config/settings.ts';
import type { ProgramIo } from './faces/cli/terminal.ts';
import type { SchemaAccess } from './store/engine/migrate.ts';

// Each program loads what it needs and no more: the command line is started for every verb.

/** The local command line on the data directory (or the shared database) of `settings`. */
export async function openLocal(settings: Settings): Promise<Local> {
  return (await import('./app/local.ts')).openLocal(settings);
}

/** What still works after `openLocal` threw `reason`. */
export async function withoutStore(settings: Settings, reason: unknown): Promise<Storeless> {
  return (await import('./app/local.ts')).withoutStore(settings, reason);
}

/** The daemon: listeners and job queue. Resolves with the exit code once it was told to stop and has. */
export async function runServe(settings: Settings, io: ProgramIo, schema: SchemaAccess): Promise<number> {
  return (await import('./app/serve.ts')).runServe(settings, io, schema);
}

/** Brings the schema of the store up to date. */
export async function runMigrate(settings: Settings): Promise<SchemaChange> {
  return (await import('./app/migrate.ts')).runMigrate(settings);
}

/** Pages and API without a job queue. */
export async function runWeb(settings: Settings, io: ProgramIo): Promise<number> {
  return (await import('./app/serve.ts')).runWeb(settings, io);
}
