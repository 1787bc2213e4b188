import { restoreModes } from '../config/data-dir-modes.ts';
import { type JobIdentity, prepareJobAccount } from '../config/job-account.ts';
import type { Settings } from '../config/settings/settings.ts';
import { formerRunsDirs, prepareRunsDir } from '../config/runs-dir.ts';
import { ModeWatch, withModes } from '../daemon/core/mode-watch.ts';
import { Failure } from '../domain/failure.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { userName } from '../lib/user-name.ts';
import { dropCapabilities, withholdCapabilities } from '../runners/account/capabilities.ts';
import { pathsThatExpose } from '../runners/sandbox/policy.ts';
import { SharedMemory } from '../runners/shared-memory/shared-memory.ts';
import type { Base } from './base.ts';

/**
 * The account of the jobs. From here on no program but the guard gets the capabilities that a daemon needs for another
 * account; a daemon that runs its jobs as its own account gives them up. Throws invalid_argument.
 */
export async function prepareJobIdentity({ jobUser }: Pick<Settings, 'jobUser'>): Promise<JobIdentity> {
  withholdCapabilities();
  const identity = await prepareJobAccount(jobUser);
  if (identity.account === null) dropCapabilities();
  return identity;
}

/** The directories of a daemon's jobs. */
export interface JobPlace {
  readonly runsDir: string;
  /** Where earlier runs of this data directory may have left something. */
  readonly formerRunsDirs: readonly string[];
}

/** Makes the directory of the runs if it is missing. Throws invalid_argument for wrong settings. */
export async function prepareJobPlace(
  { settings, paths }: Base,
  { account }: JobIdentity,
  log: Log,
): Promise<JobPlace> {
  const runsDir = await prepareRunsDir(settings.runsDir, paths, account);
  const [exposing] = pathsThatExpose(runsDir, { readable: [], writable: [] });
  if (exposing !== undefined) {
    throw new Failure(
      'invalid_argument',
      `--runs-dir: ${runsDir} lies below ${exposing}, which every job may read; choose another place.`,
    );
  }
  log.info({ account: account?.name ?? userName(), runsDir }, 'jobs run as this account, in this directory');
  return { runsDir, formerRunsDirs: await formerRunsDirs(paths, runsDir) };
}

/** Null where other programs, too, may have files of the account of jobs there. */
export function sharedMemoryOf({ account, isFallback }: JobIdentity, clock: Clock): SharedMemory | null {
  return account === null || isFallback ? null : new SharedMemory(account, clock);
}

/** Where jobs run as the account of the daemon. `self` names the daemon in the ledger. */
export function watchModes({ store, clock, paths }: Base, self: () => string | null): ModeWatch {
  return new ModeWatch({ store, clock, self, restore: () => restoreModes(paths) });
}

/**
 * The same, with a key file that is read again after a look at its mode: a job may have closed it, or opened it to
 * others.
 */
export function withModeWatch(base: Base, modes: ModeWatch): Base {
  const { seal } = base;
  return {
    ...base,
    sealKey: () => withModes(modes, () => base.sealKey()),
    seal: {
      keyring: () => withModes(modes, () => seal.keyring()),
      find: () => withModes(modes, () => seal.find()),
      text: () => withModes(modes, () => seal.text()),
      rotate: () => withModes(modes, () => seal.keyring()).then(() => seal.rotate()),
    },
  };
}
