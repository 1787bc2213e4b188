import { readFileSync } from 'node:fs';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { formatSize } from '../../domain/size.ts';
import type { Clock } from '../../lib/clock.ts';
import { endTree, findTree, type Leader } from '../process/tree.ts';
import type { Bounds, JobLimits, ProgramBounds, SharedBytes } from './bounds.ts';
import { preferOwnSession, urgently } from './urgency.ts';
import { exactMemoryOf, type Memory, usageOf } from './usage.ts';

/** A job that fills memory as fast as it can gets some 500 MiB further until the next look. */
const LOOK_EVERY_MS = 250;
/** A job that starts processes as fast as it can would have some hundreds by then, which slow the look. */
const COUNT_EVERY_MS = 25;
/** Of the processes of one job: when the machine has gained as many since the last look, the next comes at once. */
const SUDDEN_SHARE = 0.5;
/** With this number of processes more than before its jobs, the API of a daemon like the others would be late. */
const CROWD = 32;
/** Of what the machine can run, at most this share is for jobs: the daemon and its user can still start programs. */
const MACHINE_SHARE = 0.5;

interface SampledOptions {
  readonly limits: JobLimits;
  /** Jobs at a time. */
  readonly jobs: number;
  readonly clock: Clock;
  /** Why the kernel does not enforce the limits: a clause. */
  readonly because: string;
  /** What jobs left behind and still runs; null where the kernel does not tell. */
  readonly adopted: () => readonly number[] | null;
}

interface Watched {
  readonly jobId: string;
  readonly leader: Leader;
  readonly account: AccountIds | null;
  readonly shared: SharedBytes | null;
  /** Why the job is being ended. */
  over: string | null;
}

/**
 * Without control groups: the kernel limits the processes of the account of jobs, and the daemon looks at the memory
 * and the processes of each job, and ends a job that is above a limit.
 */
export class SampledBounds implements Bounds {
  readonly detail: string;
  readonly #options: SampledOptions;
  readonly #processesOfAccount: number;
  readonly #watched = new Set<Watched>();
  #isLooking = false;
  /** The fewest processes of the machine since a job runs. */
  #calm = 0;

  constructor(options: SampledOptions) {
    this.#options = options;
    this.detail = `memory and processes of each job: best effort, because ${options.because}`;
    // The kernel counts all jobs of the account together. With the limit of one job, jobs would hinder each other.
    this.#processesOfAccount = Math.min(
      options.limits.processes * options.jobs,
      Math.floor(machineProcesses() * MACHINE_SHARE),
    );
  }

  open(jobId: string, account: AccountIds | null, shared: SharedBytes | null): ProgramBounds {
    let watched: Watched | null = null;
    return {
      // Other programs of the daemon's own account would count, too.
      order: account === null ? {} : { limits: { processesOfAccount: this.#processesOfAccount } },
      members: null,
      watch: (leader) => {
        watched = { jobId, leader, account, shared, over: null };
        if (this.#watched.size === 0) this.#calm = processesOfMachine();
        this.#watched.add(watched);
        this.#lookLater();
      },
      end: () => {
        if (watched !== null) this.#watched.delete(watched);
        return Promise.resolve(watched?.over ? [watched.over] : []);
      },
    };
  }

  leftovers(): readonly [] {
    return [];
  }

  remove(): Promise<void> {
    return Promise.resolve();
  }

  #lookLater(): void {
    if (this.#isLooking) return;
    if (this.#watched.size === 0) return preferOwnSession(false);
    this.#isLooking = true;
    this.#waitForLook(processesOfMachine(), LOOK_EVERY_MS);
  }

  #waitForLook(before: number, leftMs: number): void {
    const { clock, limits } = this.#options;
    clock.after(Math.min(COUNT_EVERY_MS, leftMs), () => {
      const later = leftMs - COUNT_EVERY_MS;
      const count = processesOfMachine();
      this.#calm = Math.min(this.#calm, count);
      preferOwnSession(count - this.#calm >= CROWD);
      const isSudden = count - before >= limits.processes * SUDDEN_SHARE;
      if (later > 0 && !isSudden) return this.#waitForLook(before, later);
      void urgently(() => this.#look()).finally(() => {
        this.#isLooking = false;
        this.#lookLater();
      });
    });
  }

  async #look(): Promise<void> {
    const { clock, adopted } = this.#options;
    for (const job of this.#watched) {
      if (job.over !== null) continue;
      job.over = await this.#reached(job);
      // The program may have ended in the meantime, and another program of the job may run.
      if (job.over === null || !this.#watched.has(job)) continue;
      // Until nothing is left of it: the run takes note of the end itself.
      void urgently(() => endTree({ jobId: job.jobId, leader: job.leader, graceMs: 0, clock, adopted }));
    }
  }

  async #reached({ jobId, leader, account, shared }: Watched): Promise<string | null> {
    const { memoryBytes, processes } = this.#options.limits;
    const pids = (await findTree(jobId, leader, this.#options.adopted)).map(({ pid }) => pid);
    const usage = await usageOf(pids);
    if (usage.processes > processes) return `The job had more than ${processes} processes and threads and was ended.`;
    const named = (await shared?.grownBytes()) ?? 0;
    const isWithin = (memory: Memory): boolean => bytesOf(memory, named) <= memoryBytes;
    if (isWithin(usage.memory) || isWithin(await exactMemoryOf(pids, account))) return null;
    return `The job used more than ${formatSize(memoryBytes)} of memory and was ended.`;
  }
}

/** Of named memory, the mapped part is in both figures, so the larger one counts. */
function bytesOf({ privateBytes, sharedBytes }: Memory, named: number): number {
  return privateBytes + Math.max(sharedBytes, named);
}

/** The processes and threads of the machine; 0 where the kernel does not say. */
function processesOfMachine(): number {
  try {
    // As in "0.20 0.18 0.12 1/80 11206": running, and all.
    return Number(/ \d+\/(\d+) /.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** The processes and threads that the kernel runs at most. */
function machineProcesses(): number {
  const limits = ['pid_max', 'threads-max'].map((name) => {
    try {
      return Number(readFileSync(`/proc/sys/kernel/${name}`, 'latin1'));
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  });
  return Math.min(...limits);
}
