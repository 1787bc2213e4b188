import type { AccountIds } from '../../domain/jobs/account.ts';
import type { PathPart } from '../../domain/path-part.ts';
import type { LaunchOrder } from '../launch/steps.ts';
import type { Leader, TreeMembers } from '../process/tree.ts';

/** What one job may use at a time. */
export interface JobLimits {
  readonly memoryBytes: number;
  /** Processes and their threads. */
  readonly processes: number;
}

/** What jobs have in memory that belongs to no process, only to a name. */
export interface SharedBytes {
  grownBytes(): Promise<number>;
}

/** The bounds of one program of a job, together with everything that it starts. */
export interface ProgramBounds {
  /** Belongs to the order by which the program is started. */
  readonly order: Pick<LaunchOrder, 'group' | 'limits'>;
  /** Every process of the program, where the kernel lists them. Null: the process table has to be searched. */
  readonly members: TreeMembers | null;
  /** To be called when the program starts. */
  watch(leader: Leader): void;
  /** To be called when the tree has ended, or never started. Sentences for the output: which bounds were reached. */
  end(): Promise<readonly string[]>;
}

/** Bounds the memory and the processes of jobs. */
export interface Bounds {
  /** How the bounds hold, for the doctor: a clause without a full stop. */
  readonly detail: string;
  /**
   * `account` is null where the job runs as the account of the daemon, and `shared` for a program that may not write
   * shared memory by name. Throws where the bounds cannot be set.
   */
  open(jobId: PathPart, account: AccountIds | null, shared: SharedBytes | null): ProgramBounds;
  /** The jobs whose groups still exist. */
  leftovers(): readonly PathPart[];
  /** Ends the processes in the group of a job, and removes the group. */
  remove(jobId: PathPart): Promise<void>;
}
