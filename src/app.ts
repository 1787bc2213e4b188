import type { OpenRestore } from './faces/cli/backups/open-restore.ts';
import type { App } from './faces/cli/terminal.ts';

// Each program loads what it needs and no more: the command line is started for every verb.

export const openLocal: App['openLocal'] = async (settings, mayMake) =>
  (await import('./app/local.ts')).openLocal(settings, mayMake);

export const withoutStore: App['withoutStore'] = async (settings, reason) =>
  (await import('./app/local.ts')).withoutStore(settings, reason);

export const runServe: App['runServe'] = async (load, io, schema) =>
  (await import('./app/serve.ts')).runServe(load, io, schema);

export const runMigrate: App['runMigrate'] = async (settings) =>
  (await import('./app/migrate.ts')).runMigrate(settings);

export const openRestore: OpenRestore = async (settings, order) =>
  (await import('./app/backups/restore.ts')).openRestore(settings, order);

export const runWeb: App['runWeb'] = async (settings, io) => (await import('./app/serve.ts')).runWeb(settings, io);
