import { join } from 'node:path';
import { loadSettings } from '../../config/settings/load-settings.ts';
import type { Settings } from '../../config/settings/settings.ts';
import { isShell } from './install/completion.ts';
import type { ProgramSession } from './connection/session.ts';
import { print } from './print.ts';
import type { ProgramIo } from './terminal.ts';
import { type ProgramName, TREE } from './syntax/tree.ts';
import { UsageFailure } from './syntax/usage.ts';
import { PROGRAM_ROOT } from '../../lib/files/program-files.ts';

/** From this checkout or package, whatever link it was called by. */
const COMMAND = join(PROGRAM_ROOT, 'bin', 'svc');

/** Verbs that are not operations, each resolving to the exit code. */
const PROGRAMS: Readonly<Record<ProgramName, (session: ProgramSession) => Promise<number>>> = {
  serve: async (session) => {
    const schema = session.flags['no-migrate'] === undefined ? 'migrate' : 'create';
    return (await session.terminal.app()).runServe(() => settingsOf(session), ioOf(session), schema);
  },
  web: async (session) => (await session.terminal.app()).runWeb(await settingsOf(session), ioOf(session)),
  migrate: async (session) => {
    const { from, to } = await (await session.terminal.app()).runMigrate(await settingsOf(session));
    return print(session, 'migrate.done', { from, to }, () =>
      from === to
        ? `The store has schema ${to}. Nothing to do.\n`
        : `Changed the store from schema ${from} to ${to}.\n`,
    );
  },
  'backup-restore': async (session) => (await import('./backups/restore.ts')).restoreBackup(session),
  'context-list': async (session) => (await import('./context-verbs.ts')).contextList(session),
  'context-add': async (session) => (await import('./context-verbs.ts')).contextAdd(session),
  'context-use': async (session) => (await import('./context-verbs.ts')).contextUse(session),
  'context-remove': async (session) => (await import('./context-verbs.ts')).contextRemove(session),
  'config-schema': async (session) => {
    const { configSchema } = await import('../../operations/configuration/schema.ts');
    const { loadSections } = await import('../../operations/areas.ts');
    const schema = configSchema(await loadSections());
    return print(session, 'config.schema', schema, () => `${JSON.stringify(schema, null, 2)}\n`);
  },
  'config-import': async (session) => (await import('./configuration/config-import.ts')).configImport(session),
  commands: async (session) => {
    const { commandLines, commandTree } = await import('./syntax/command-tree.ts');
    return print(session, 'commands', commandTree(TREE), () => commandLines(TREE));
  },
  completion: async (session) => {
    const { completionScript, SHELLS } = await import('./install/completion.ts');
    const shell = session.fields['shell'];
    if (!isShell(shell))
      throw new UsageFailure(`svc completion: expected one of ${SHELLS.join(', ')}.`, 'svc completion --help');
    const script = completionScript(TREE, shell);
    return print(session, 'completion.get', { shell, script }, () => script);
  },
  watch: async (session) => (await import('./watch/watch.ts')).watch(session),
  man: async (session) => {
    const { manPage } = await import('./install/man-page.ts');
    const page = manPage(TREE, session.terminal.version);
    return print(session, 'man.get', { page }, () => page);
  },
  complete: async (session) => (await import('./live/complete.ts')).complete(session),
  'systemd-unit': async (session) => {
    const { systemdUnit } = await import('./install/systemd-unit.ts');
    const unit = systemdUnit({ command: COMMAND, dataDir: (await settingsOf(session)).dataDir });
    return print(session, 'systemd-unit.get', { unit }, () => unit);
  },
  version: (session) => {
    const { version } = session.terminal;
    const node = process.versions.node;
    return print(session, 'version.get', { version, node }, () => `svc ${version} (node ${node})\n`);
  },
};

export function runProgram(session: ProgramSession, name: ProgramName): Promise<number> {
  return PROGRAMS[name](session);
}

function settingsOf({ flags, terminal }: ProgramSession): Promise<Settings> {
  return loadSettings(flags, terminal.env);
}

function ioOf({ terminal: { stdout, stderr }, options }: ProgramSession): ProgramIo {
  return { output: options.output, stdout, stderr, interactive: !options.noInput && stdout.isTTY === true };
}
