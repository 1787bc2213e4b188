import { findJobAccount, type JobIdentity } from '../config/job-account.ts';
import type { Settings } from '../config/settings/settings.ts';
import type { DoctorParts } from '../doctor/entry.ts';
import type { Bounds } from '../runners/bounds/bounds.ts';
import type { Log } from '../lib/log.ts';
import { createLauncher, type Launcher } from '../runners/launch/launch.ts';

type SandboxSettings = Pick<Settings, 'jobUser' | 'allowUnfilteredEgress'>;

/** The parts of a daemon. Other programs have none, and describe what a daemon with their settings would have. */
interface DaemonParts {
  readonly launcher: Launcher;
  readonly bounds: Pick<Bounds, 'detail'>;
  readonly jobIdentity: JobIdentity;
}

type Support = Awaited<ReturnType<DoctorParts['sandbox']>>;

const STATUS = { full: 'ok', limited: 'warn', none: 'fail' } as const;

/** What the kernel can enforce, for the doctor. */
export async function sandboxSupport(
  { jobUser, allowUnfilteredEgress }: SandboxSettings,
  daemon: DaemonParts | null = null,
): ReturnType<DoctorParts['sandbox']> {
  const launcher = daemon?.launcher ?? createLauncher({ allowUnfilteredEgress });
  const { state, detail } = await launcher.supported(async () => {
    // The account that the first start would create is another one, too.
    const identity = daemon?.jobIdentity ?? (await findJobAccount(jobUser));
    return identity?.account !== null;
  });
  return { status: STATUS[state], detail: daemon === null ? detail : `${detail}; ${daemon.bounds.detail}` };
}

/** For the start: without it, the first failed job would say that this machine refuses some of them, or all. */
export function logLimits({ status, detail }: Support, log: Log): void {
  if (status === 'fail') log.error({ detail }, 'sandboxed jobs cannot run here');
  if (status === 'warn') log.warn({ detail }, 'the sandbox of jobs is limited');
}
