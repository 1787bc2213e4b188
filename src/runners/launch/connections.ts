import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { SystemCalls } from '../sandbox/kernel/system-call.ts';
import { FOLDERS_FD } from './confine.ts';
import { CHILD_FDS, type ChildEnds, type LaunchOrder, REPORT_FD } from './steps.ts';

const O_CLOEXEC = 0o2000000;
const AF_UNIX = 1;
const SOCK_STREAM = 1;
const F_DUPFD_CLOEXEC = 1030;

/** The connections between this process and one child. */
export interface Connections {
  readonly stdout: Socket;
  readonly stderr: Socket;
  readonly control: Socket;
  /** What the tool reports; null for a tool that has no such pipe. */
  readonly report: Socket | null;
  /** The read ends, as descriptors of this process. */
  readonly output: { readonly stdout: number; readonly stderr: number };
  readonly ends: ChildEnds;
  /** Closes the ends of the child in this process; to be called after the child was started. */
  closeEnds(): void;
}

/**
 * Output passes through real pipes: on a socket `echo text > /dev/stderr` fails with ENXIO. Every descriptor is closed
 * on execution. Throws where there are no more descriptors; then none is left open.
 */
export function openConnections(
  system: SystemCalls,
  input: number,
  { reports = false, folders = [] }: Pick<LaunchOrder, 'reports' | 'folders'> = {},
): Connections {
  const opened: number[] = [];
  const pair = (make: (ends: Buffer) => number, least = CHILD_FDS): [ours: number, theirs: number] => {
    const ends = Buffer.alloc(8);
    const result = make(ends);
    if (result !== 0) throw new Error(`connecting a process failed with error ${-result}`);
    const ours = ends.readInt32LE(0);
    opened.push(ours);
    const theirs = aboveThoseOfChild(system, ends.readInt32LE(4), least);
    opened.push(theirs);
    return [ours, theirs];
  };
  const { pipe2 } = system.numbers.made;
  const { socketpair } = system.numbers.inspected;
  try {
    const stdout = pair((ends) => system.call(pipe2, ends, O_CLOEXEC));
    const stderr = pair((ends) => system.call(pipe2, ends, O_CLOEXEC));
    const control = pair((ends) => system.call(socketpair, AF_UNIX, SOCK_STREAM | O_CLOEXEC, 0, ends));
    const report = reports ? pair((ends) => system.call(pipe2, ends, O_CLOEXEC), REPORT_FD + 1) : null;
    const held = folders.map((fd) => {
      const copy = copyAbove(system, fd, FOLDERS_FD + folders.length);
      opened.push(copy);
      return copy;
    });
    const theirs = [stdout[1], stderr[1], control[1], ...(report === null ? [] : [report[1]]), ...held];
    return {
      stdout: new Socket({ fd: stdout[0], readable: true, writable: false }),
      stderr: new Socket({ fd: stderr[0], readable: true, writable: false }),
      control: new Socket({ fd: control[0], readable: true, writable: true }),
      report: report === null ? null : new Socket({ fd: report[0], readable: true, writable: false }),
      output: { stdout: stdout[0], stderr: stderr[0] },
      ends: {
        input,
        stdout: stdout[1],
        stderr: stderr[1],
        control: control[1],
        folders: held,
        ...(report === null ? {} : { report: report[1] }),
      },
      closeEnds: () => theirs.forEach((fd) => closeSync(fd)),
    };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  }
}

/** Returns the same file under a number that the child does not use itself. */
export function aboveThoseOfChild(system: SystemCalls, fd: number, least = CHILD_FDS): number {
  if (fd >= least) return fd;
  try {
    return copyAbove(system, fd, least);
  } finally {
    closeSync(fd);
  }
}

/** Another descriptor of the same file, not below `least`. */
function copyAbove(system: SystemCalls, fd: number, least: number): number {
  const other = system.call(system.numbers.made.fcntl, fd, F_DUPFD_CLOEXEC, least);
  if (other < 0) throw new Error(`moving a descriptor failed with error ${-other}`);
  return other;
}
