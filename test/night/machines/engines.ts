/** How a program is started in a machine. Both share the network of this machine, which npm and apt need. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ENTER = join(import.meta.dirname, 'enter');
const MS_PER_S = 1_000;
/**
 * Not podman's default of four million, which runc can set with CAP_SYS_RESOURCE only: this machine may be a container
 * without it. The process that starts runc has this limit (podman 4.3).
 */
const PROCESSES_MAX = 32_768;

interface Place {
  /** The folder of the file system. */
  readonly root: string;
  /** No other machine of this name runs. */
  readonly name: string;
  /** Of the account. */
  readonly account: string;
  readonly id: number;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly limitMs: number;
}

export interface Engine {
  /** Programs that this machine needs for it, by their Debian packages. */
  readonly needs: Readonly<Record<string, string>>;
  /** The words that begin the command line of a program. */
  readonly start: (place: Place) => string[];
  /** The words that end it where the end of the command does not. */
  readonly stop: (name: string) => string[] | null;
}

export const ENGINES = {
  // As a Debian that was booted: all that the kernel has. Its processes end with `unshare`.
  plain: {
    needs: { unshare: 'util-linux' },
    start: ({ root, account, id, directory, environment }) =>
      [
        ['unshare', '--mount', '--ipc', '--pid', '--fork', '--kill-child', ENTER, root],
        ['setpriv', `--reuid=${account}`, `--regid=${id}`, '--init-groups', '--reset-env'],
        ['env', `--chdir=${directory}`, assignments(environment)],
      ].flat(2),
    stop: () => null,
  },
  // With the filter of system calls and the capabilities that podman has as a default.
  podman: {
    needs: { podman: 'podman', runc: 'runc' },
    start: ({ root, name, account, directory, environment, limitMs }) =>
      [
        ['podman', '--runtime', 'runc', 'run', '--rm', '--name', container(name), '--network', 'host'],
        ['--timeout', String(Math.ceil(limitMs / MS_PER_S)), '--log-driver', 'none'],
        ['--ulimit', `nofile=${openFilesMax()}`, '--ulimit', `nproc=${PROCESSES_MAX}`],
        ['--user', account, '--workdir', directory],
        assignments(environment).flatMap((each) => ['--env', each]),
        ['--rootfs', root],
      ].flat(),
    stop: (name) => ['podman', 'rm', '--force', '--time', '0', container(name)],
  },
} as const satisfies Readonly<Record<string, Engine>>;

/** The limit of this process, which a container can have without CAP_SYS_RESOURCE. */
function openFilesMax(): string {
  const [, hard = '1024'] = /^Max open files +\S+ +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return hard;
}

function container(name: string): string {
  return `gatehouse-${name}`;
}

function assignments(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).map(([name, value]) => `${name}=${value}`);
}
