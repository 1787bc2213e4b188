import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { affixed, entryPath, idPartIn, type PathPart } from '../../domain/path-part.ts';
import { formatSize } from '../../domain/size.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import { errorCode } from '../../lib/error-code.ts';
import type { TreeMembers } from '../process/tree.ts';
import type { Bounds, JobLimits, ProgramBounds } from './bounds.ts';

const PREFIX = 'job-';
/** SIGKILL of a group takes effect within milliseconds; a process that waits for a device is left to the sweep. */
const EMPTY_WITHIN_MS = 2_000;
const LOOK_FIRST_MS = 1;
const LOOK_MS = 50;

type RemoveFolder = (path: string) => void;

/** A control group for each job, below a group that was delegated to the daemon: the kernel enforces the bounds. */
export class CgroupBounds implements Bounds {
  readonly detail = 'memory and processes of each job: enforced by control groups';
  readonly #parent: string;
  readonly #limits: JobLimits;
  readonly #clock: Clock;
  readonly #removeFolder: RemoveFolder;

  /** `removeFolder` is for tests: only a folder of the kernel can be removed with its files. */
  constructor(parent: string, limits: JobLimits, clock: Clock, removeFolder: RemoveFolder = rmdirSync) {
    this.#parent = parent;
    this.#limits = limits;
    this.#clock = clock;
    this.#removeFolder = removeFolder;
  }

  open(jobId: PathPart): ProgramBounds {
    const group = this.#groupOf(jobId);
    try {
      group.make(this.#limits);
    } catch (error) {
      const code = errorCode(error) ?? 'unknown error';
      const why = code === 'EEXIST' ? 'processes of an earlier program of the job are still in it' : code;
      throw new Error(`The control group of the job could not be created: ${why}.`, { cause: error });
    }
    return {
      order: { group: group.listFile },
      members: group,
      watch: () => {},
      end: async () => {
        const lines = reached(group, this.#limits);
        await group.remove(this.#clock);
        return lines;
      },
    };
  }

  leftovers(): readonly PathPart[] {
    const names = readdirSync(this.#parent).filter((name) => name.startsWith(PREFIX));
    return names.flatMap((name) => idPartIn('job', name.slice(PREFIX.length)) ?? []);
  }

  remove(jobId: PathPart): Promise<void> {
    return this.#groupOf(jobId).remove(this.#clock);
  }

  #groupOf(jobId: PathPart): JobGroup {
    return new JobGroup(entryPath(this.#parent, affixed(PREFIX, jobId)), this.#removeFolder);
  }
}

/** The control group of one job. */
class JobGroup implements TreeMembers {
  readonly #path: string;
  readonly #removeFolder: RemoveFolder;

  constructor(path: string, removeFolder: RemoveFolder) {
    this.#path = path;
    this.#removeFolder = removeFolder;
  }

  /** A process that writes its number here joins the group. */
  get listFile(): string {
    return join(this.#path, 'cgroup.procs');
  }

  /**
   * Throws where the group exists: processes of an earlier program of the job could not be ended. The child that joins
   * shares the memory of the daemon, and a group that is full already would end both.
   */
  make(limits: JobLimits): void {
    mkdirSync(this.#path);
    this.#write('pids.max', String(limits.processes));
    this.#write('memory.max', String(limits.memoryBytes));
    // All of the job is ended, not its largest process alone, which another would wait for.
    this.#write('memory.oom.group', '1');
    try {
      this.#write('memory.swap.max', '0');
    } catch (error) {
      // A kernel that does not account for swap has no such file, and refuses to create it.
      if (!['ENOENT', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
    }
  }

  isEmpty(): boolean {
    return this.#count('cgroup.events', 'populated') === 0;
  }

  pids(): readonly number[] {
    return this.#read('cgroup.procs').split('\n').filter(Boolean).map(Number);
  }

  kill(): void {
    try {
      this.#write('cgroup.kill', '1');
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }

  /** Ends what is in it. A group that does not get empty stays, for the next sweep. */
  async remove(clock: Clock): Promise<void> {
    const until = clock.monotonic() + EMPTY_WITHIN_MS;
    for (let waitMs = LOOK_FIRST_MS; !this.#isRemoved(); waitMs = Math.min(waitMs * 2, LOOK_MS)) {
      if (clock.monotonic() >= until) return;
      if (!this.isEmpty()) this.kill();
      await pause(clock, waitMs);
    }
  }

  /** The number in the line `name number` of a file; 0 without such a line. */
  count(file: 'memory.events' | 'pids.events', name: string): number {
    return this.#count(file, name);
  }

  #count(file: string, name: string): number {
    const line = this.#read(file)
      .split('\n')
      .find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? 0);
  }

  #isRemoved(): boolean {
    try {
      this.#removeFolder(this.#path);
      return true;
    } catch (error) {
      return errorCode(error) === 'ENOENT';
    }
  }

  /** Empty where the group does not exist. */
  #read(file: string): string {
    try {
      return readFileSync(join(this.#path, file), 'latin1');
    } catch {
      return '';
    }
  }

  #write(file: string, value: string): void {
    writeFileSync(join(this.#path, file), value);
  }
}

function reached(group: JobGroup, { memoryBytes, processes }: JobLimits): string[] {
  const lines: string[] = [];
  const refused = group.count('pids.events', 'max');
  if (refused > 0) lines.push(`The job reached its limit of ${processes} processes and threads (${refused} refused).`);
  // Ends by the kernel when the whole machine has no memory are counted too; then the job did not reach its limit.
  if (group.count('memory.events', 'oom_kill') > 0) {
    const isOwn = group.count('memory.events', 'oom') > 0;
    lines.push(
      isOwn
        ? `The job used more than ${formatSize(memoryBytes)} of memory and was ended.`
        : 'The machine ran out of memory, and the kernel ended processes of the job.',
    );
  }
  return lines;
}
