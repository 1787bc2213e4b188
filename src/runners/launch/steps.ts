import type { AccountIds } from '../../domain/jobs/account.ts';
import type { Opening } from '../../lib/files/closed.ts';
import { closedPrograms, openingOfProgram } from '../../lib/programs/open-program.ts';
import type { SystemCalls } from '../sandbox/kernel/system-call.ts';
import { JOB_ID_VARIABLE } from '../../domain/jobs/job.ts';
import { markOf, RLIMIT_RTTIME } from '../sandbox/mark.ts';
import type { SandboxPolicy } from '../sandbox/policy.ts';
import { type Confinement, FOLDERS_FD } from './confine.ts';
import { mapMemory } from './memory.ts';
import { ANY_RESULT, CallList, LIST_BYTES, MORE_THAN_ZERO, type Step, ZERO_OR_MORE } from './records.ts';

/** Limits of the tool's process, inherited by its children. */
interface ResourceLimits {
  /** RLIMIT_AS. Beyond it an allocation of memory fails in the process that asks for it. */
  readonly addressSpaceBytes?: number;
  /**
   * RLIMIT_NPROC: of all processes and threads of the tool's account together. Beyond it none of them starts another.
   * The kernel does not apply it to root.
   */
  readonly processesOfAccount?: number;
}

/** What is started. No text holds a NUL. */
export interface LaunchOrder {
  /** The program, looked up in PATH of `env` unless it has a slash, and its arguments. */
  readonly argv: readonly string[];
  /** The whole environment of the tool. */
  readonly env: Readonly<Record<string, string>>;
  /** An absolute path. */
  readonly cwd: string;
  /** `null` starts the tool without a sandbox: a privileged run. */
  readonly policy: SandboxPolicy | null;
  /**
   * The account that the tool runs as, without supplementary groups; the daemon's own by default. Another one needs
   * CAP_SETUID and CAP_SETGID.
   */
  readonly account?: AccountIds | null;
  readonly limits?: ResourceLimits;
  /** The file that lists the processes of a control group: the child joins that group before it is the tool. */
  readonly group?: string;
  /** Whether the tool has a pipe besides its outputs, to report to this process: it writes to REPORT_FD. */
  readonly reports?: boolean;
  /** Descriptors of this process that hold `policy.outside`, in the order of its paths. */
  readonly folders?: readonly number[];
}

/** The ends of the child's connections, as descriptors of this process. Each is at least `CHILD_FDS`. */
export interface ChildEnds {
  readonly input: number;
  readonly stdout: number;
  readonly stderr: number;
  /** Brings the byte on which the child continues, and ends when the child is the tool, or has ended. */
  readonly control: number;
  /** Above REPORT_FD. */
  readonly report?: number;
  /** The folders outside of the run, each above the numbers that the child gives them. */
  readonly folders: readonly number[];
}

/** What a child has before it opens its own descriptors: input, output, errors, and its connection. */
export const CHILD_FDS = 4;
const CONTROL_FD = 3;
/** The descriptor of a tool that reports: above the ones that the child opens itself. */
export const REPORT_FD = 9;

export const WAITING: Step = { name: 'waiting for the order' };
export const EXECUTING: Step = { name: 'executing' };
const JOINING: Step = { name: 'joining the control group' };
const ARRANGING: Step = { name: 'arranging descriptors' };
const ACCOUNT: Step = { name: 'becoming the account' };
const SIGNALS: Step = { name: 'resetting signals' };

const SIGNALS_MAX = 64;
/** SIGKILL and SIGSTOP have no action that could be set. */
const FIXED_SIGNALS = [9, 19];
const SIGNAL_SET_BYTES = 8;
const SIG_SETMASK = 2;
/** struct sigaction of the kernel: the default, and no flags. */
const DEFAULT_ACTION = Buffer.alloc(32);
const ALL_DESCRIPTORS = 0xffff_ffff;
const CLOSE_RANGE_CLOEXEC = 4;
const AT_FDCWD = -100;
const O_WRONLY = 1;
const OWNER_STAYS = -1;
const GROUP_OPENS = 0o660;

/** The limits of an order as the kernel numbers them. One that is already lower stays, where it may not be raised. */
const LIMITS = [
  { of: 'addressSpaceBytes', number: 9, step: { name: 'limiting the address space' }, mayStay: false },
  { of: 'processesOfAccount', number: 6, step: { name: 'limiting the processes' }, mayStay: true },
] as const;

/** A daemon may have the right to raise its own priority: RLIMIT_NICE and RLIMIT_RTPRIO. */
const PRIORITY_LIMITS = [13, 14];
const NO_PRIORITY: Step = { name: 'giving up priority' };

const [EPERM, ENOENT, EACCES, ENOTDIR] = [1n, 2n, 13n, 20n];
/** After these errors the next folder of PATH is tried. */
const NOT_HERE = (1n << ENOENT) | (1n << EACCES) | (1n << ENOTDIR);
const SET_OR_REFUSED = ZERO_OR_MORE | (1n << EPERM);
/** A number without a call: a list that reaches it fails. */
const NO_CALL = 0x7fff;

/** Writes the lists of system calls by which a child becomes a tool. */
export class LaunchSteps {
  readonly #system: SystemCalls;
  readonly #confinement: Confinement;
  readonly #first: CallList;

  constructor(system: SystemCalls, confinement: Confinement) {
    this.#system = system;
    this.#confinement = confinement;
    this.#first = new CallList(mapMemory(system, LIST_BYTES));
    this.#addSignals(this.#first);
  }

  /** Everything from the start of the child until it waits: the same for every order. */
  addUntilWaiting(list: CallList, ends: ChildEnds): void {
    list.append(this.#first);
    this.#addDescriptors(list, ends);
    if (this.#confinement.problem === null) this.#confinement.addEarly(list);
    const read = this.#system.numbers.made.read;
    list.call(WAITING, read, [CONTROL_FD, list.room(1).address, 1], MORE_THAN_ZERO);
  }

  /**
   * Everything after that, to the execution of the tool. It may be written while the child waits. With another account
   * the child shares the memory of this process only for this time.
   */
  addOrder(list: CallList, order: LaunchOrder): void {
    const { policy, account = null } = order;
    const { made } = this.#system.numbers;
    if (order.group !== undefined) this.#addGroup(list, order.group);
    this.#addMark(list, order.env[JOB_ID_VARIABLE]);
    if (policy !== null) this.#confinement.addBoundingSet(list);
    if (account !== null) this.#addAccount(list, account.uid, account.gid);
    list.call({ name: `changing to the folder ${order.cwd}` }, made.chdir, [list.text(order.cwd)]);
    const uid = account?.uid ?? process.geteuid?.() ?? 0;
    if (policy !== null) this.#confinement.addJob(list, policy, uid);
    else if (account !== null) this.#confinement.addCapabilities(list);
    this.#addCloseFrom(list, CONTROL_FD, { report: order.reports === true, folders: 0 }, CLOSE_RANGE_CLOEXEC);
    this.#addExecution(list, order);
  }

  /**
   * The handlers of this process must not run in the child, so all signals are blocked until they have their default
   * action. One that is ignored would stay ignored in the tool, and `yes | head` would never end. In its own session a
   * signal to the daemon's group does not reach it, and its group can be ended as a whole.
   */
  #addSignals(list: CallList): void {
    const { rt_sigaction, setsid } = this.#system.numbers.made;
    const action = list.copy(DEFAULT_ACTION);
    for (let signal = 1; signal <= SIGNALS_MAX; signal += 1) {
      if (FIXED_SIGNALS.includes(signal)) continue;
      list.call(SIGNALS, rt_sigaction, [signal, action, 0, SIGNAL_SET_BYTES], ANY_RESULT);
    }
    list.call({ name: 'opening a session' }, setsid);
  }

  /** The child closes all other descriptors before it waits: listeners, locks and connections of other children. */
  #addDescriptors(list: CallList, { input, stdout, stderr, control, report, folders }: ChildEnds): void {
    const { dup3 } = this.#system.numbers.made;
    for (const [to, from] of [input, stdout, stderr, control].entries()) list.call(ARRANGING, dup3, [from, to, 0]);
    if (report !== undefined) list.call(ARRANGING, dup3, [report, REPORT_FD, 0]);
    // The last ones: a number that they get may be one of the descriptors above.
    for (const [at, from] of folders.entries()) list.call(ARRANGING, dup3, [from, FOLDERS_FD + at, 0]);
    this.#addCloseFrom(list, CHILD_FDS, { report: report !== undefined, folders: folders.length }, 0);
  }

  /** All descriptors from `first` on, except those that are kept. */
  #addCloseFrom(list: CallList, first: number, kept: { report: boolean; folders: number }, flags: number): void {
    const { close_range } = this.#system.numbers.made;
    const [from, to] = [kept.report ? REPORT_FD : FOLDERS_FD, FOLDERS_FD + kept.folders];
    const keeps = from < to;
    if (keeps) list.call(ARRANGING, close_range, [first, from - 1, flags]);
    list.call(ARRANGING, close_range, [keeps ? to : first, ALL_DESCRIPTORS, flags]);
  }

  /**
   * By the child itself: the kernel may take milliseconds to move a process, and the daemon would wait for it. "0" is
   * the process that writes. The child has the ruleset of its files open by now, where there is a sandbox.
   */
  #addGroup(list: CallList, file: string): void {
    const { openat, write, close } = this.#system.numbers.made;
    const fd = this.#confinement.problem === null ? CHILD_FDS + 1 : CHILD_FDS;
    list.call(JOINING, openat, [AT_FDCWD, list.text(file), O_WRONLY]);
    list.call(JOINING, write, [fd, list.text('0'), 1], MORE_THAN_ZERO);
    list.call(JOINING, close, [fd]);
  }

  /** Where this process has a lower limit, the job has no mark and is found by its environment and session. */
  #addMark(list: CallList, jobId: string | undefined): void {
    if (jobId === undefined) return;
    const step = { name: 'marking the process' };
    const limit = list.copy(limitOf(markOf(jobId)));
    list.call(step, this.#system.numbers.made.prlimit64, [0, RLIMIT_RTTIME, limit, 0], SET_OR_REFUSED);
  }

  /**
   * A tool that opens /dev/stderr opens its pipe again, so the group of the account may. The owner of a file may give
   * it to a group of its process, which needs no right to change owners.
   */
  #addAccount(list: CallList, uid: number, gid: number): void {
    if (uid === 0 || gid === 0) throw new Error('the account of a job must not be root');
    const { fchmod, fchown, setgroups, setresgid, setresuid } = this.#system.numbers.made;
    list.call(ACCOUNT, setgroups, [0, 0]);
    list.call(ACCOUNT, setresgid, [gid, gid, gid]);
    for (const fd of [1, 2]) {
      list.call(ACCOUNT, fchown, [fd, OWNER_STAYS, gid]);
      list.call(ACCOUNT, fchmod, [fd, GROUP_OPENS]);
    }
    list.call(ACCOUNT, setresuid, [uid, uid, uid]);
  }

  #addExecution(list: CallList, order: LaunchOrder): void {
    const { prlimit64, rt_sigprocmask, execve } = this.#system.numbers.made;
    const argv = list.texts(order.argv);
    const env = list.texts(Object.entries(order.env).map(([name, value]) => `${name}=${value}`));
    for (const { of, number, step, mayStay } of LIMITS) {
      const value = order.limits?.[of];
      if (value === undefined) continue;
      const limit = list.copy(limitOf(BigInt(value)));
      list.call(step, prlimit64, [0, number, limit, 0], mayStay ? SET_OR_REFUSED : ZERO_OR_MORE);
    }
    const none = list.copy(limitOf(0n));
    for (const number of PRIORITY_LIMITS) list.call(NO_PRIORITY, prlimit64, [0, number, none, 0]);
    list.call(SIGNALS, rt_sigprocmask, [SIG_SETMASK, list.room(SIGNAL_SET_BYTES).address, 0, SIGNAL_SET_BYTES]);
    for (const path of candidates(order)) list.call(EXECUTING, execve, [list.text(path), argv, env], NOT_HERE);
    list.call(EXECUTING, NO_CALL);
  }
}

/** struct rlimit: the limit and the highest that it may be set to. */
function limitOf(value: bigint): Buffer {
  return Buffer.from(BigUint64Array.of(value, value).buffer);
}

/** The paths at which the program may be. With the rights of root, those that no other account can change. */
function candidates(order: LaunchOrder): string[] {
  return hasOwnRights(order) ? closedPrograms(named(order), order.cwd) : named(order);
}

/** What lets others change the program of an order with the rights of root; null where it may be started. */
export function openingOfOrder(order: LaunchOrder): Opening | null {
  return hasOwnRights(order) ? openingOfProgram(named(order), order.cwd) : null;
}

function hasOwnRights({ policy, account }: LaunchOrder): boolean {
  return policy === null && (account ?? null) === null;
}

function named({ argv, env }: LaunchOrder): string[] {
  const command = argv[0] ?? '';
  if (command.includes('/')) return [command];
  const folders = (env['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'));
  return folders.map((folder) => `${folder}/${command}`);
}
