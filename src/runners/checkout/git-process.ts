import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { Failure } from '../../domain/failure.ts';

/** How git is started for one fetch. */
export interface Git {
  /** The folder of the repository, as GIT_DIR: git looks for no other one. */
  readonly gitDir: string;
  /** HOME and working directory: an empty folder. */
  readonly home: string;
  readonly searchPath: string;
  readonly protocols: readonly string[];
  /** Aborted to end what runs, with all of its processes. */
  readonly signal: AbortSignal;
}

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
  'pack.threads=1',
  'transfer.fsckObjects=true',
  // One pack in place of a file per object: a repository may have millions.
  'transfer.unpackLimit=1',
  'fetch.unpackLimit=1',
  'fetch.writeCommitGraph=false',
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
function environmentOf({ gitDir, home, searchPath, protocols }: Git): Record<string, string> {
  return {
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
 * Runs git with these words, hands its output to `take`, and answers what that made of it. Throws Failure `unavailable`
 * with git's own words when it fails, and the reason of the signal when that ended it.
 */
export async function runGit<T>(git: Git, words: readonly string[], take: (output: Readable, input: Writable) => Promise<T>): Promise<T> {
  git.signal.throwIfAborted();
  const fileAllowed = git.protocols.includes('file') ? 'always' : 'never';
  const options = [...OPTIONS, `protocol.file.allow=${fileAllowed}`].flatMap((option) => ['-c', option]);
  const child = spawn('git', ['--no-pager', ...options, ...words], {
    cwd: git.home,
    env: environmentOf(git),
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, so that its ends with it whatever it started.
    detached: true,
  });
  const end = (): void => endGroup(child.pid);
  git.signal.addEventListener('abort', end, { once: true });
  child.stdin.on('error', () => undefined);
  const said = collect(child.stderr);
  const closed = once(child, 'close') as Promise<[number | null]>;
  try {
    // Who takes the output may refuse it: then nothing is to go on writing.
    const [taken, [code]] = await Promise.all([take(child.stdout, child.stdin), closed]);
    git.signal.throwIfAborted();
    if (code !== 0) throw new Failure('unavailable', `git ${words[0] ?? ''} failed: ${cleaned(await said)}`);
    return taken;
  } catch (error) {
    end();
    await closed.catch(() => undefined);
    git.signal.throwIfAborted();
    throw errorOfStart(error);
  } finally {
    git.signal.removeEventListener('abort', end);
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

function errorOfStart(error: unknown): unknown {
  const missing = error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('spawn');
  return missing ? new Failure('unavailable', 'git can not be started: install it, or have it on the PATH.') : error;
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
