import { environmentTwin, processEnvironment, SETTINGS, type Settings } from '../../config/settings/settings.ts';
import type { Restarting } from '../../daemon/maintenance/restart.ts';
import { digestOf, runningProgram } from '../../config/program/digest.ts';
import { tryProgram } from '../../runners/restart/trial.ts';

/** Settings of every program; a trial gets them by the environment, which wins over a file. */
const OF_EVERY_PROGRAM = ['config', 'dataDir', 'databaseUrl', 'sealKeyFile', 'backupDir', 'toolchainManifest'] as const;

/** Of the service manager: a trial is not the service. */
const NOT_FOR_TRIALS = ['NOTIFY_SOCKET', 'WATCHDOG_PID', 'WATCHDOG_USEC'];

/** A restart in place as the process carries it out. */
export class InPlace {
  readonly daemonPart: Restarting;
  /** Resolves when the daemon wants to be ended for it. */
  readonly asked: Promise<void>;

  constructor(settings: Settings, follows: boolean) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.asked = promise;
    const program = runningProgram();
    const trial = { environment: trialEnvironment(settings), nodeOptions: process.execArgv };
    this.daemonPart = {
      program,
      follows,
      drainMs: settings.drainTimeoutMs,
      digest: (signal) => digestOf(program, signal),
      tryProgram: (isNewer, signal) => tryProgram(program, { ...trial, isNewer }, signal),
      execute: resolve,
    };
  }
}

function trialEnvironment(settings: Settings): Record<string, string | undefined> {
  const environment: Record<string, string | undefined> = { ...processEnvironment() };
  for (const key of OF_EVERY_PROGRAM) environment[environmentTwin(SETTINGS[key].flag)] = settings[key] ?? undefined;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !NOT_FOR_TRIALS.includes(name)));
}
