import type { Readable } from 'node:stream';
import type { AccountIds } from '../../../domain/jobs/account.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Clock } from '../../../lib/clock.ts';
import { randomName } from '../../../lib/random.ts';
import type { Guard } from '../../process/guard.ts';
import { supervise } from '../../process/supervise.ts';
import { CommandNotExecutable, CommandNotFound, SandboxRefused } from '../../launch/errors.ts';
import type { Launcher } from '../../launch/launch.ts';
import { JOB_ID_VARIABLE } from '../../../domain/jobs/job.ts';
import type { SandboxPolicy } from '../../sandbox/policy.ts';

/** How git is started for one fetch. */
export interface Git {
  readonly launcher: Launcher;
  readonly clock: Clock;
  /** The only folder that git may write. It holds the other two. */
  readonly work: string;
  /** The folder of the repository, as GIT_DIR: git looks for no other one. */
  readonly gitDir: string;
  /** HOME and working directory: an empty folder. */
  readonly home: string;
  readonly searchPath: string;
  readonly protocols: readonly string[];
  /** What git runs as; null is the account of this process. */
  readonly account: AccountIds | null;
  /** Whether git runs as the account of this process although jobs run as another one: ssh needs its keys. */
  readonly needsOwnAccount?: boolean;
  /** Ends git, which does not limit its own time and disk space, when this process is killed; null leaves it alone. */
  readonly guard: Guard | null;
  /** Aborted to end what runs, with all of its processes. */
  readonly signal: AbortSignal;
}

/** What one git process may reach besides its folder and the system's programs. */
export type GitReach = Pick<SandboxPolicy, 'readable' | 'connectPorts' | 'unfiltered'>;

/** For git processes that only work on what was fetched. */
export const NO_REACH: GitReach = { readable: [], connectPorts: 'none' };

/**
 * Of each git process. A pack of 60 MiB with one file of that size needs 135 MiB; the largest delta that fits is about
 * 50 MiB. A pack that makes git ask for more ends with an error of git.
 */
const ADDRESS_SPACE_BYTES = 190 * 1024 * 1024;
/** Git has nothing to put in order when it is stopped: its folder is removed. */
const GRACE_MS = 0;
/** The fetch has its own time-out, which aborts the signal. */
const NO_TIMEOUT_MS = 86_400_000;
const NOTHING_HELD = { termDir: null, leaderFirst: false, output: null, remove: [] };

/** What git says is cut here; a hostile server could go on for ever. */
const SAID_BYTES_MAX = 16 * 1024;
const SAID_SHOWN_CHARACTERS = 500;
/** A server that sends less than a byte per second for so long has stopped, in seconds. */
const STALLED_S = 30;

/** Hardening as options, which are stronger than any file. Each one closes a way by which a repository runs code. */
const OPTIONS: readonly string[] = [
  'protocol.ext.allow=never',
  'http.followRedirects=false',
  'http.lowSpeedLimit=1',
  `http.lowSpeedTime=${STALLED_S}`,
  'credential.helper=',
  'core.hooksPath=/dev/null',
  'core.symlinks=false',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  // Larger files are streamed and not held in memory.
  'core.bigFileThreshold=4m',
  // Packs are mapped in small windows, and few deltas are remembered: the address space is limited.
  'core.packedGitWindowSize=8m',
  'core.packedGitLimit=64m',
  'core.deltaBaseCacheLimit=8m',
  'pack.threads=1',
  'transfer.fsckObjects=true',
  // One pack in place of a file per object: a repository may have millions.
  'transfer.unpackLimit=1',
  'fetch.unpackLimit=1',
  'fetch.writeCommitGraph=false',
  'transfer.bundleURI=false',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
];

/**
 * Options for the ssh that git starts: it never asks, trusts no host that it does not know, and takes nothing along. It
 * reads the configuration and the keys of the service's own user, whose home it finds in the user database.
 */
const SSH = [
  'ssh',
  '-oBatchMode=yes',
  '-oConnectTimeout=15',
  `-oServerAliveInterval=${STALLED_S / 3}`,
  '-oServerAliveCountMax=3',
  '-oStrictHostKeyChecking=yes',
  '-oUpdateHostKeys=no',
  '-oClearAllForwardings=yes',
  '-oForwardAgent=no',
  '-oForwardX11=no',
  '-oPermitLocalCommand=no',
  '-oControlMaster=no',
  '-oControlPath=none',
  '-oRequestTTY=no',
].join(' ');

/** The whole environment, built from nothing: no variable of the daemon changes what git does. */
function environmentOf({ gitDir, home, searchPath, protocols }: Git, runId: string): Record<string, string> {
  return {
    [JOB_ID_VARIABLE]: runId,
    PATH: searchPath,
    HOME: home,
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    GIT_DIR: gitDir,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: protocols.join(':'),
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    SSH_ASKPASS: '/bin/false',
    SSH_ASKPASS_REQUIRE: 'never',
    GIT_SSH_COMMAND: SSH,
    GIT_SSH_VARIANT: 'ssh',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ADVICE: '0',
  };
}

/**
 * Runs git in the sandbox with these words, hands its output to `take`, and answers what that made of it. Git may write
 * its folder, read the system and `reach`, and connect to the ports of `reach`; its memory is limited. Throws Failure
 * `unavailable` with git's own words when it fails or when there is no sandbox, what `take` throws, and the reason of
 * the signal when that ended it. None of its processes is left.
 */
export async function runGit<T>(
  git: Git,
  words: readonly string[],
  reach: GitReach,
  take: (output: Readable) => Promise<T>,
): Promise<T> {
  git.signal.throwIfAborted();
  const fileAllowed = git.protocols.includes('file') ? 'always' : 'never';
  const options = [...OPTIONS, `protocol.file.allow=${fileAllowed}`].flatMap((option) => ['-c', option]);
  const runId = `git-${randomName()}`;
  const refused = new AbortController();
  try {
    await git.guard?.ready();
    const launched = await git.launcher.launch({
      argv: ['git', '--no-pager', ...options, ...words],
      env: environmentOf(git, runId),
      cwd: git.home,
      policy: { ...reach, writable: [git.work], needsOwnAccount: git.needsOwnAccount ?? false },
      account: git.account,
      limits: { addressSpaceBytes: ADDRESS_SPACE_BYTES },
      beforeStart: ({ pid, startTicks }) => git.guard?.watch({ ...NOTHING_HELD, jobId: runId, pid, startTicks }),
    });
    const taking = take(launched.stdout).catch((error: unknown) => {
      launched.stdout.destroy();
      refused.abort(error);
      throw error;
    });
    const signal = AbortSignal.any([git.signal, refused.signal]);
    const [taken, said, end] = await Promise.allSettled([
      taking,
      collect(launched.stderr),
      supervise(launched, { jobId: runId, timeoutMs: NO_TIMEOUT_MS, graceMs: GRACE_MS, clock: git.clock, signal }),
    ]);
    git.signal.throwIfAborted();
    if (end.status === 'rejected') throw end.reason;
    if (refused.signal.aborted) throw refused.signal.reason;
    const { exitCode } = end.value;
    if (exitCode !== 0)
      throw new Failure(
        'unavailable',
        `git ${words[0] ?? ''} failed: ${said.status === 'fulfilled' ? cleaned(said.value) : ''}`,
      );
    if (taken.status === 'rejected') throw taken.reason;
    return taken.value;
  } catch (error) {
    throw errorOfStart(error);
  } finally {
    git.guard?.unwatch(runId);
  }
}

function errorOfStart(error: unknown): unknown {
  if (error instanceof CommandNotFound || error instanceof CommandNotExecutable) {
    return new Failure(
      'unavailable',
      'git cannot be started: install it in a directory of the system, and have it on the PATH.',
    );
  }
  if (error instanceof SandboxRefused)
    return new Failure('unavailable', `git: the repository cannot be read in the sandbox. ${error.message}`);
  return error;
}

/** The output as text, up to the limit; the rest is read and dropped. Never rejects. */
export async function collect(output: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let left = SAID_BYTES_MAX;
  try {
    for await (const chunk of output) {
      const part = (chunk as Buffer).subarray(0, left);
      left -= part.length;
      if (part.length > 0) parts.push(part);
    }
  } catch {
    // What was said before is what there is.
  }
  return Buffer.concat(parts).toString('utf8');
}

/** What git and the server said, as one line without control characters and without credentials. */
export function cleaned(said: string): string {
  const lines = said
    .replaceAll(/\p{Cc}+\[[0-9;?]*[A-Za-z]/gu, '')
    .split(/[\r\n]+/)
    .map((line) => line.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '').trim())
    .filter((line) => line !== '');
  const text = lines.join('; ').replaceAll(/([A-Za-z][A-Za-z0-9+.-]{0,20}:\/\/)[^/\s]*@/g, '$1');
  if (text === '') return 'it gave no reason.';
  return text.length > SAID_SHOWN_CHARACTERS ? `${text.slice(0, SAID_SHOWN_CHARACTERS)} …` : text;
}
