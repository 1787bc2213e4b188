import { environmentTwin, processEnvironment, SETTINGS, type Settings } from '../../config/settings/settings.ts';
import type { Setting } from '../../config/settings/setting-values.ts';
import type { Restarting } from '../../daemon/maintenance/restart.ts';
import { digestOf, runningProgram } from '../../config/program/digest.ts';
import { tryProgram } from '../../runners/restart/trial.ts';

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

/** A trial gets the settings of every program by the environment, which wins over a file. */
function trialEnvironment(settings: Settings): Record<string, string | undefined> {
  const environment: Record<string, string | undefined> = { ...processEnvironment() };
  const rows: readonly [string, Setting<unknown>][] = Object.entries(SETTINGS);
  for (const [key, { flag, only }] of rows) {
    const value = settings[key as keyof Settings];
    // A value of another form is in the environment as it was given.
    if (only !== undefined || (value !== null && typeof value !== 'string')) continue;
    environment[environmentTwin(flag)] = value ?? undefined;
  }
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !NOT_FOR_TRIALS.includes(name)));
}
