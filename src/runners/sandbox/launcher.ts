import fs from 'node:fs';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { Ruleset, LANDLOCK_ABI_NEEDED, LANDLOCK_ABI_OF_NAMED_SOCKETS, landlockAbi } from './kernel/landlock.ts';
import { giveBackText, startLean } from './lean.ts';
import {
  becomeAccount,
  boundingSet,
  dropCapabilities,
  emptyBoundingSet,
  forbidNewPrivileges,
  installFilter,
  limitResources,
} from './kernel/privileges.ts';
import type { LaunchOrder, LaunchProblem, LauncherReport } from './protocol.ts';
import { CONTROL_FD, ORDER_MAX_BYTES, exitCodeOf } from './protocol.ts';
import { seccompProgram } from './kernel/seccomp.ts';
import type { SystemCalls } from './kernel/system-call.ts';
import { cString, cStrings, openSystemCalls } from './kernel/system-call.ts';

/**
 * A stand-alone program that starts one tool. It prepares all that takes time, says that it is ready, and waits for its
 * order in a blocking read. Then it binds itself (account, Landlock, seccomp, no capabilities) and executes the tool in
 * its own place, so that pid, process group and parent stay. Any step that fails ends it without the tool having
 * started.
 */

const O_CLOEXEC = 0o2000000;
const CLOSE_RANGE_CLOEXEC = 4;
const F_SETFD = 2;
const ALL_DESCRIPTORS = 0xffff_ffff;
/** Node ignores these two; an ignored signal stays ignored in the tool, and `yes | head` would never end. */
const SIGNALS_NODE_IGNORES = [13, 25];
/** When memory runs out, the kernel kills a job before the daemon and other programs. */
const OOM_SCORE_ADJ = 500;
const ENOENT = 2;
const EACCES = 13;
const ENOTDIR = 20;

class LaunchError extends Error {
  readonly problem: LaunchProblem;

  constructor(problem: LaunchProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

interface Prepared {
  /** Null where there is no table of system calls: only a bare execve is left then. */
  readonly system: SystemCalls | null;
  readonly abi: number;
  /** Null where the kernel can't enforce it; `problem` says why. */
  readonly sandbox: { readonly files: Ruleset; readonly filters: Filters; readonly bounding: readonly number[] } | null;
  readonly problem: string | null;
  readonly pipes: { readonly stdout: PipeEnds; readonly stderr: PipeEnds } | null;
}

/** Made while there is time, before it is known which of them the job gets. */
interface Filters {
  readonly withUnixSockets: Buffer;
  readonly withoutUnixSockets: Buffer;
}

interface PipeEnds {
  readonly read: number;
  readonly write: number;
}

/** Ends the launcher when the daemon is gone. */
function report(message: LauncherReport): void {
  try {
    fs.writeSync(CONTROL_FD, `${JSON.stringify(message)}\n`);
  } catch {
    process.exit(126);
  }
}

function makePipe(system: SystemCalls): PipeEnds {
  const ends = Buffer.alloc(8);
  const result = system.call(system.numbers.made.pipe2, ends, O_CLOEXEC);
  if (result !== 0) throw new Error(`making a pipe failed with error ${-result}`);
  return { read: ends.readInt32LE(0), write: ends.readInt32LE(4) };
}

function prepare(): Prepared {
  const without = { sandbox: null, pipes: null, system: null, abi: 0 };
  if (process.platform !== 'linux')
    return { ...without, problem: 'the sandbox needs Linux; only privileged jobs can run here' };
  let system: SystemCalls;
  try {
    system = openSystemCalls();
  } catch (thrown) {
    return {
      ...without,
      problem: `the sandbox cannot be set up: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    };
  }
  startLean(system, CONTROL_FD);
  const pipes = { stdout: makePipe(system), stderr: makePipe(system) };
  const abi = landlockAbi(system);
  if (abi < LANDLOCK_ABI_NEEDED) {
    const has = abi === 0 ? 'has none, or it is switched off' : `has ABI ${abi}`;
    const problem = `the sandbox needs Landlock ABI ${LANDLOCK_ABI_NEEDED} (Linux 6.7); this kernel ${has}`;
    return { system, abi, pipes, sandbox: null, problem };
  }
  const files = Ruleset.forFiles(system, abi);
  const filters = {
    withUnixSockets: seccompProgram(system.numbers, { unixSockets: true }),
    withoutUnixSockets: seccompProgram(system.numbers, { unixSockets: false }),
  };
  const sandbox = { files, filters, bounding: boundingSet(system) };
  return { system, abi, pipes, sandbox, problem: null };
}

function ownStartTicks(): number {
  if (process.platform !== 'linux') return 0;
  const stat = fs.readFileSync('/proc/self/stat', 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}

/** Not a matter of safety: where it can't be written, or is higher already, it stays as it is. */
function offerToOomKiller(): void {
  const file = '/proc/self/oom_score_adj';
  try {
    if (Number(fs.readFileSync(file, 'latin1')) < OOM_SCORE_ADJ) fs.writeFileSync(file, String(OOM_SCORE_ADJ));
  } catch {
    // A read-only /proc, or none.
  }
}

/** Reads one line. Null when the daemon closed the connection, or died, without giving an order. */
function readOrder(): LaunchOrder | null {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const chunk = Buffer.alloc(64 * 1024);
    const read = fs.readSync(CONTROL_FD, chunk);
    if (read === 0) return null;
    chunks.push(chunk.subarray(0, read));
    length += read;
    if (length > ORDER_MAX_BYTES) throw new LaunchError('refused', `the order is longer than ${ORDER_MAX_BYTES} bytes`);
    if (chunk[read - 1] === 0x0a) return JSON.parse(Buffer.concat(chunks).toString('utf8')) as LaunchOrder;
  }
}

function confine(prepared: Prepared, policy: NonNullable<LaunchOrder['policy']>): void {
  const { system, abi, sandbox } = prepared;
  if (system === null || sandbox === null) throw new LaunchError('refused', prepared.problem ?? 'there is no sandbox');
  sandbox.files.allowJobPaths(policy);
  const network = Ruleset.forNetwork(system, abi, policy.connectPorts);
  dropCapabilities(system);
  forbidNewPrivileges(system);
  sandbox.files.restrict();
  network.restrict();
  const unixSockets = policy.unixSockets === true || abi >= LANDLOCK_ABI_OF_NAMED_SOCKETS;
  installFilter(system, unixSockets ? sandbox.filters.withUnixSockets : sandbox.filters.withoutUnixSockets);
}

/**
 * First of all that is done for an order: paths are then opened with the rights of the account. The pipes are given to
 * it, since a tool that opens /dev/stderr opens its pipe again.
 */
function changeAccount({ system, sandbox, pipes }: Prepared, account: AccountIds, confined: boolean): void {
  if (system === null || pipes === null) throw new LaunchError('refused', 'this system cannot change the account');
  if (confined && sandbox !== null) emptyBoundingSet(system, sandbox.bounding);
  for (const { write } of [pipes.stdout, pipes.stderr]) fs.fchownSync(write, account.uid, account.gid);
  becomeAccount(account);
}

/** No descriptor but the three standard ones reaches the tool, and its output is written to real pipes. */
function arrangeDescriptors(system: SystemCalls, pipes: NonNullable<Prepared['pipes']>): void {
  const { close_range, dup3, fcntl } = system.numbers.made;
  const marked = system.call(close_range, 3, ALL_DESCRIPTORS, CLOSE_RANGE_CLOEXEC);
  if (marked !== 0) throw new Error(`marking descriptors to be closed failed with error ${-marked}`);
  // Node marks the standard ones to be closed too. Without its input, the first file that a tool opens would be it.
  const kept = system.call(fcntl, 0, F_SETFD, 0);
  if (kept !== 0) throw new Error(`keeping descriptor 0 failed with error ${-kept}`);
  for (const [from, to] of [
    [pipes.stdout.write, 1],
    [pipes.stderr.write, 2],
  ] as const) {
    const result = system.call(dup3, from, to, 0);
    if (result !== to) throw new Error(`connecting descriptor ${to} failed with error ${-result}`);
  }
  for (const signal of SIGNALS_NODE_IGNORES) {
    if (!system.defaultSignal(signal)) throw new Error(`resetting signal ${signal} failed`);
  }
}

function candidates(order: LaunchOrder): string[] {
  const command = order.argv[0];
  if (command === undefined || command === '') throw new LaunchError('not_found', 'the command is empty');
  if (command.includes('/')) return [command];
  const directories = (order.env['PATH'] ?? '').split(':').filter((directory) => directory.startsWith('/'));
  return directories.map((directory) => `${directory}/${command}`);
}

/** Executes the first candidate that can be; returns only by throwing. */
function execute(system: SystemCalls, order: LaunchOrder, paths: readonly string[]): never {
  const argv = cStrings(order.argv);
  const env = cStrings(Object.entries(order.env).map(([name, value]) => `${name}=${value}`));
  const programs = paths.map(cString);
  let refusal = ENOENT;
  // Last, when no more memory is needed here: this process has mapped more than a tool may be allowed.
  limitResources(system, order.limits ?? {});
  for (const program of programs) {
    const error = -system.call(system.numbers.made.execve, program, argv.array, env.array);
    if (error !== ENOENT && error !== ENOTDIR) refusal = error;
    if (error !== ENOENT && error !== ENOTDIR && error !== EACCES) break;
  }
  // Named here so that the texts stay reachable until the calls are over.
  const name = `${order.argv[0]} (${argv.keep.length} arguments, ${env.keep.length} variables)`;
  if (refusal === ENOENT) throw new LaunchError('not_found', `the command ${order.argv[0]} was not found`);
  if (refusal === EACCES) throw new LaunchError('not_executable', `the command ${order.argv[0]} may not be executed`);
  throw new LaunchError('not_executable', `executing ${name} failed with error ${refusal}`);
}

function refuseNul(order: LaunchOrder): void {
  const texts = [...order.argv, order.cwd, ...Object.entries(order.env).flat()];
  if (texts.some((text) => text.includes('\0'))) throw new LaunchError('refused', 'a text of the order holds a NUL');
}

function run(order: LaunchOrder, prepared: Prepared): never {
  refuseNul(order);
  const { system, pipes, sandbox } = prepared;
  const { account = null } = order;
  if (account !== null) changeAccount(prepared, account, order.policy !== null);
  else if (order.policy !== null && system !== null && sandbox !== null) emptyBoundingSet(system, sandbox.bounding);
  process.chdir(order.cwd);
  const paths = candidates(order);
  if (order.policy !== null) confine(prepared, order.policy);
  if (system === null || pipes === null) return executeBare(order, paths);
  arrangeDescriptors(system, pipes);
  report({ executing: true });
  return execute(system, order, paths);
}

/** A privileged run where the system calls are unknown, such as on macOS. */
function executeBare(order: LaunchOrder, paths: readonly string[]): never {
  if (process.execve === undefined) throw new LaunchError('refused', 'this system cannot replace a process image');
  const path = paths.find((candidate) => fs.existsSync(candidate));
  if (path === undefined) throw new LaunchError('not_found', `the command ${order.argv[0]} was not found`);
  fs.accessSync(path, fs.constants.X_OK);
  report({ executing: true });
  return process.execve(path, [...order.argv], { ...order.env });
}

/** Without the tear-down of Node: its event loop aborts where the filter refuses it io_uring. */
function leave(system: SystemCalls | null, code: number): never {
  system?.call(system.numbers.made.exit_group, code);
  process.exit(code);
}

function main(): void {
  let system: SystemCalls | null = null;
  try {
    const prepared = prepare();
    system = prepared.system;
    const { abi, problem, pipes } = prepared;
    const output = pipes === null ? null : { stdout: pipes.stdout.read, stderr: pipes.stderr.read };
    offerToOomKiller();
    report({ ready: true, abi, problem, startTicks: ownStartTicks(), output });
    if (system !== null) giveBackText(system);
    const order = readOrder();
    if (order === null) leave(system, 0);
    run(order, prepared);
  } catch (thrown) {
    const problem = thrown instanceof LaunchError ? thrown.problem : 'refused';
    report({ error: thrown instanceof Error ? thrown.message : String(thrown), problem });
    leave(system, exitCodeOf(problem));
  }
}

main();
