import { pause, type Clock } from '../../lib/clock.ts';
import { type AdoptedList, carriesId, killAdopted, killForked, lookAtAdopted, signalPid } from './adopted.ts';
import { withDescendants } from './descent.ts';
import { markIn, markOf } from '../sandbox/mark.ts';
import { TermOnce } from './term-once.ts';
import { listProcesses, newestPid, processEntry, type ProcessEntry, processesSince } from './process-table.ts';

/** The first process of a job, as it was recorded when it started. */
export interface Leader {
  readonly pid: number;
  /** Ticks since boot, so that another process with a reused pid is never taken for it. */
  readonly startTicks: number;
}

/** The processes of a job, where the kernel lists them and none of them can leave the list. */
export interface TreeMembers {
  pids(): readonly number[];
  /** Sends SIGKILL to all of them at once. */
  kill(): void;
}

export interface EndTreeOptions {
  readonly jobId: string;
  /**
   * As this daemon started it, or its guard learnt of it. Without one only mark and environment tell who belongs to the
   * job. Valid only within one boot of the machine.
   */
  readonly leader?: Leader | null;
  /**
   * In place of it: as a row of the database says, which may name any process of the machine. Then its group and
   * session count for nothing: a process belongs to the job by mark or environment, or descends from one that does.
   */
  readonly recorded?: Leader;
  /** From SIGTERM to SIGKILL, in milliseconds. */
  readonly graceMs?: number;
  readonly clock: Clock;
  /** The folder that records which processes got SIGTERM: shared by all that may end this tree. */
  readonly termDir?: string | null;
  /**
   * The leader gets SIGTERM first and SIGKILL last: it stops in order and sees its helpers end. The others get SIGTERM
   * after half of the grace and SIGKILL after four fifths of it.
   */
  readonly leaderFirst?: boolean;
  /**
   * With the list the process table is not read: what is left of the job descends from one of these or from the
   * leader.
   */
  readonly adopted?: AdoptedList;
  /** In place of both. */
  readonly members?: TreeMembers | null;
  /** Ends all processes of the account of the job at one blow, if none of them belongs to anything else. */
  readonly endAccount?: (() => Promise<unknown>) | null;
  /** When aborted, the ending is given up, not sped up: the result says what is left. */
  readonly signal?: AbortSignal;
}

export interface TreeEnd {
  /** The pids that are still there; empty when the job has no process any more. */
  readonly left: number[];
}

export const GRACE_DEFAULT_MS = 10_000;
/** Between two looks at the process table; a tree that obeys is gone after one or two. */
const RESCAN_MS = 50;
/** The first looks come sooner: most tools end within some milliseconds, and the job's end waits for this. */
const RESCAN_FIRST_MS = 5;
/**
 * An empty look counts when no process was forked during it; otherwise those that were are looked at, at most this
 * number of times. To be missed, a process would have to be replaced by its successor within each of these looks.
 */
const LOOKS_AT_MOST = 64;
/** What SIGKILL does not end within this time waits in the kernel for a device, and no signal helps. */
const KILL_WITHIN_MS = 5_000;
/** From the second blow to this one, what SIGKILL for each did not end is ended as a whole account. */
const ACCOUNT_BLOWS = 10;
/**
 * A child that got its order as its daemon died has no mark for two more system calls, which take microseconds. For so
 * long a recorded leader without a mark is looked at again, and gets no signal.
 */
const MARKED_WITHIN_MS = 1_000;

/**
 * Every living process of a job: those that have its mark or were started with its SVC_JOB_ID, those of the leader's
 * group or session, and the descendants of all of these. Never this process itself.
 */
export async function findSurvivors(jobId: string, leader: Leader | null = null): Promise<ProcessEntry[]> {
  return findBy(jobId, leader?.startTicks ?? 0, (all) => (leader === null ? [] : groupOf(all, leader)));
}

/** Those of them that have started at `startTicks` or later. `knownOf` adds what belongs to the job all the same. */
async function findBy(jobId: string, startTicks: number, knownOf: KnownOf): Promise<ProcessEntry[]> {
  if (jobId === '' || jobId.includes('\0')) throw new Error('a job id is needed to find its processes');
  let newest = newestPid();
  let found = await membersIn(await listProcesses(), jobId, startTicks, knownOf);
  // One that was forked during the look may be missed while its parent, already read, is gone at the end of it.
  for (let look = 1; found.length === 0 && look < LOOKS_AT_MOST; look++) {
    const before = newest;
    newest = newestPid();
    if (newest === before) break;
    found = await membersIn(processesSince(before, newest) ?? (await listProcesses()), jobId, startTicks, knownOf);
  }
  return found;
}

type KnownOf = (all: readonly ProcessEntry[]) => readonly ProcessEntry[];

async function membersIn(
  listed: readonly ProcessEntry[],
  jobId: string,
  startTicks: number,
  knownOf: KnownOf,
): Promise<ProcessEntry[]> {
  const all = listed.filter((entry) => entry.pid !== process.pid && entry.pid !== 1);
  const members = new Set<ProcessEntry>(knownOf(all));
  const rest = all.filter((entry) => !members.has(entry));
  // Nothing that is older than the leader descends from it: most of the machine need not be looked into.
  const candidates = rest.filter((entry) => entry.startTicks >= startTicks);
  for (const entry of candidates) if (await carriesId(entry, jobId)) members.add(entry);
  addDescendants(members, all);
  return [...members];
}

/** The same. `adopted` lists what this process has adopted from all jobs: with it the process table is not read. */
export async function findTree(jobId: string, leader: Leader, adopted: AdoptedList): Promise<ProcessEntry[]> {
  return (await lookAtTree(jobId, leader, adopted)).found;
}

interface TreeLook {
  readonly found: ProcessEntry[];
  /** See lookAtAdopted. Not known where the process table was read. */
  readonly died: readonly number[];
}

async function lookAtTree(jobId: string, leader: Leader, list: AdoptedList): Promise<TreeLook> {
  // Before the list is read: if the leader has ended by now, the list has what it left.
  const first = processEntry(leader.pid);
  const isReused = first !== null && !isProcess(leader)(first);
  const adopted = list();
  if (adopted === null) return { found: await findSurvivors(jobId, leader), died: [] };
  const isNear = (entry: ProcessEntry): boolean =>
    !isReused && (entry.group === leader.pid || entry.session === leader.pid);
  const { found, died } = await lookAtAdopted(adopted, jobId, leader.startTicks, isNear);
  const roots = first === null || isReused ? found : [first, ...found];
  return { found: await withDescendants(roots), died };
}

/** The members of the leader's group and session; none when its pid now belongs to another process. */
function groupOf(all: readonly ProcessEntry[], leader: Leader): ProcessEntry[] {
  const now = processEntry(leader.pid);
  if (now !== null && now.startTicks !== leader.startTicks) return [];
  // While one member is left, the kernel gives the number to no new process, so the group is still the leader's.
  return all.filter(
    (entry) => (entry.group === leader.pid || entry.session === leader.pid) && entry.startTicks >= leader.startTicks,
  );
}

/** A process that cleaned its environment and left the session is still found while its parent is known. */
function addDescendants(members: Set<ProcessEntry>, all: readonly ProcessEntry[]): void {
  const pids = new Set([...members].map((entry) => entry.pid));
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const entry of all) {
      if (!members.has(entry) && pids.has(entry.parent)) {
        members.add(entry);
        pids.add(entry.pid);
      }
    }
  }
}

/**
 * Ends all processes of a job: SIGTERM for each as it is found, and after the grace SIGKILL until none is left, for at
 * most 5 s more. Never rejects for what the processes do.
 */
export async function endTree(options: EndTreeOptions): Promise<TreeEnd> {
  const { graceMs = GRACE_DEFAULT_MS, clock, signal } = options;
  const leader = options.leader ?? options.recorded ?? null;
  const startedAt = clock.monotonic();
  const killAt = startedAt + graceMs;
  const termOnce = new TermOnce(options.termDir ?? null);
  let blows = 0;
  for (let waitMs = RESCAN_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RESCAN_MS)) {
    const { found: survivors, died } = await lookAt(options);
    const now = clock.monotonic();
    const left = survivors.length > 0 ? survivors.map((entry) => entry.pid) : [...died];
    const isOver = left.length === 0 && (now >= startedAt + MARKED_WITHIN_MS || !isAwaited(options.recorded));
    if (isOver || signal?.aborted === true || now >= killAt + KILL_WITHIN_MS) return { left };
    if (now >= killAt) {
      kill(survivors, options);
      blows += 1;
      if (blows > 1 && blows <= ACCOUNT_BLOWS) await options.endAccount?.();
    } else if (leader !== null && options.leaderFirst === true && survivors.some(isProcess(leader))) {
      terminateLeaderFirst(survivors, leader, termOnce, (now - startedAt) / graceMs);
    } else terminate(survivors, termOnce);
    if (!(await pause(clock, now >= killAt ? waitMs : Math.min(waitMs, Math.max(1, killAt - now)), signal)))
      return { left };
  }
}

/** Whether the recorded process is there: where it is not one of the job by now, it may become one. */
function isAwaited(recorded: Leader | undefined): boolean {
  const entry = recorded === undefined ? null : processEntry(recorded.pid);
  return recorded !== undefined && entry !== null && isProcess(recorded)(entry);
}

async function lookAt({ jobId, leader, recorded, members, adopted }: EndTreeOptions): Promise<TreeLook> {
  if (members) {
    const listed = members.pids().map((pid) => ({ pid, entry: processEntry(pid) }));
    const died = listed.flatMap(({ pid, entry }) => (entry === null ? [pid] : []));
    return { found: listed.flatMap(({ entry }) => entry ?? []), died };
  }
  if (recorded !== undefined) return { found: await findBy(jobId, recorded.startTicks, () => []), died: [] };
  return leader ? lookAtTree(jobId, leader, adopted ?? (() => null)) : { found: await findSurvivors(jobId), died: [] };
}

/** Shares of the grace, see `leaderFirst`. */
const REST_TERM_AT = 0.5;
const REST_KILLED_AT = 0.8;

function terminateLeaderFirst(
  survivors: readonly ProcessEntry[],
  leader: Leader,
  termOnce: TermOnce,
  passed: number,
): void {
  const rest = survivors.filter((entry) => !isProcess(leader)(entry));
  terminate(survivors.filter(isProcess(leader)), termOnce);
  if (passed >= REST_KILLED_AT) for (const entry of rest) send(entry, 'SIGKILL');
  else if (passed >= REST_TERM_AT) terminate(rest, termOnce);
}

function isProcess({ pid, startTicks }: Leader): (entry: ProcessEntry) => boolean {
  return (entry) => entry.pid === pid && entry.startTicks === startTicks;
}

/** Sends SIGTERM once to each, see TermOnce. */
function terminate(survivors: readonly ProcessEntry[], termOnce: TermOnce): void {
  for (const entry of survivors) {
    if (!termOnce.claim(entry.pid, entry.startTicks)) continue;
    send(entry, 'SIGTERM');
    // A stopped process takes the signal only when it continues.
    send(entry, 'SIGCONT');
  }
}

function kill(survivors: readonly ProcessEntry[], options: EndTreeOptions): void {
  const { jobId, leader, recorded, members, adopted } = options;
  if (members) return members.kill();
  const group = (leader ?? recorded)?.pid;
  // A session that has a marked process began with one, or with the child that got the mark: all of it is the job's.
  const isOfJob = ({ pid }: ProcessEntry): boolean => recorded === undefined || markIn(pid) === markOf(jobId);
  // The whole group at one blow, so that a process that keeps forking in it has no time to; then each that left it.
  if (group !== undefined && survivors.some((entry) => entry.group === group && isOfJob(entry)))
    signalPid(-group, 'SIGKILL');
  for (const entry of survivors) send(entry, 'SIGKILL');
  if (adopted === undefined || killAdopted(jobId, adopted) === null) killForked(jobId);
}

/** Sends only while the pid still belongs to the process that was found. */
function send(entry: ProcessEntry, signal: NodeJS.Signals): void {
  if (processEntry(entry.pid)?.startTicks === entry.startTicks) signalPid(entry.pid, signal);
}
