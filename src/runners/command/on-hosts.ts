import { join } from 'node:path';
import type { CommandSpec } from '../../domain/commands/command.ts';
import { exitCodeOfHosts, type HostResult, SSH_FAILED, streamBytesMax } from '../../domain/commands/hosts.ts';
import type { Connection } from '../../domain/inventories/connection.ts';
import type { RunEnd } from '../../domain/jobs/job.ts';
import { readRunFile, removeRunFile } from '../run-files/run-files.ts';
import type { FanOutEnd, ProgramOrder, RunTools } from '../runner.ts';
import { HostOutput } from './host-output.ts';
import { localOrder } from './local-order.ts';
import { type SshFiles, sshWords, unreachableReason } from './ssh.ts';

/** The hosts that a command runs on, and what reaches them. */
export interface HostMaterials {
  readonly hosts: readonly Connection[];
  /** Hosts with an accepted key. */
  readonly trusted: ReadonlySet<string>;
  /** The file of accepted keys. */
  readonly knownHosts: string;
  /** The private key; null where no host needs it. */
  readonly key: Buffer | null;
  /** The socket of an agent that has the keys; null without one. */
  readonly agent: string | null;
  /** Hosts at a time. */
  readonly forks: number;
  /** For messages. */
  readonly inventory: string;
}

/** The private key in clear: removed with the run, also when the daemon dies. */
export const KEY_FILE = 'ssh-key';
const KNOWN_HOSTS_FILE = 'known_hosts';
/** A few lines; a server can make ssh say more. */
const LOG_BYTES_MAX = 64 * 1024;
/** Results are stored in batches: many hosts end at the same time. */
const BATCH_HOSTS = 64;
const BATCH_BYTES = 256 * 1024;
/** A result waits this long for others: it must not be lost with the daemon while another host takes hours. */
const BATCH_WITHIN_MS = 1_000;

type Tools = RunTools<readonly HostResult[]>;

/** Runs the command on each host, and stores the result of each. */
export async function runOnHosts(spec: CommandSpec, materials: HostMaterials, tools: Tools): Promise<RunEnd> {
  const run = new HostRun(spec, materials, tools);
  // What runs on this machine runs before the key lies there.
  const local = materials.hosts.filter(({ kind }) => kind === 'local');
  const remote = materials.hosts.filter(({ kind }) => kind === 'ssh');
  const reasons = [await run.local(local), await run.remote(remote)];
  return run.end(reasons.find((reason) => reason !== 'exited') ?? 'exited');
}

type Reason = FanOutEnd['reason'];

class HostRun {
  readonly #spec: CommandSpec;
  readonly #materials: HostMaterials;
  readonly #tools: Tools;
  readonly #bytesMax: number;
  readonly #outputs = new Map<string, HostOutput>();
  readonly #ends = new Map<string, Pick<HostResult, 'status' | 'rc'>>();
  #batch: HostResult[] = [];
  #batchBytes = 0;
  #storing: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | null = null;
  #isStopped = false;

  constructor(spec: CommandSpec, materials: HostMaterials, tools: Tools) {
    this.#spec = spec;
    this.#materials = materials;
    this.#tools = tools;
    this.#bytesMax = streamBytesMax(materials.hosts.length);
  }

  async local(hosts: readonly Connection[]): Promise<Reason> {
    if (hosts.length === 0) return 'exited';
    return this.#run(
      hosts,
      () => localOrder(this.#spec),
      (_host, exitCode) => Promise.resolve({ status: exitCode === 0 ? 'ok' : 'failed', rc: exitCode, reason: null }),
    );
  }

  async remote(hosts: readonly Connection[]): Promise<Reason> {
    const { trusted, knownHosts, key, agent, inventory } = this.#materials;
    for (const { host } of hosts)
      if (!trusted.has(host))
        await this.#finish(host, {
          status: 'unreachable',
          rc: null,
          reason: `its host key was not accepted: svc inventory trust ${inventory} ${host}`,
        });
    const reached = hosts.filter(({ host }) => trusted.has(host));
    if (reached.length === 0 || (key === null && agent === null) || this.#isStopped) return 'exited';
    const files = {
      key: key === null ? null : await this.#tools.placeInput(KEY_FILE, key),
      agent,
      knownHosts: await this.#tools.placeInput(KNOWN_HOSTS_FILE, Buffer.from(knownHosts)),
    };
    const names = new Map(reached.map(({ host }, at) => [host, `ssh-${at}.log`]));
    const logOf = (host: string): string => names.get(host) ?? '';
    return this.#run(
      reached,
      (each) => this.#sshOrder(each, { ...files, log: join(this.#tools.runDir, logOf(each.host)) }),
      (host, exitCode) => this.#sshEnd(logOf(host), exitCode),
    );
  }

  #sshOrder(connection: Connection, files: SshFiles): ProgramOrder {
    return {
      argv: sshWords(connection, files, this.#spec.command),
      connectPorts: [connection.port],
      sockets: files.agent === null ? [] : [files.agent],
    };
  }

  async #sshEnd(log: string, exitCode: number | null) {
    const { runDir } = this.#tools;
    const said = await readRunFile(runDir, log, LOG_BYTES_MAX).catch(() => Buffer.alloc(0));
    await removeRunFile(runDir, log).catch(() => undefined);
    // The command itself may end with this code too; then ssh has nothing to say.
    const reason = exitCode === SSH_FAILED ? unreachableReason(said.toString('utf8'), runDir) : null;
    if (reason !== null) return { status: 'unreachable' as const, rc: null, reason };
    return { status: exitCode === 0 ? ('ok' as const) : ('failed' as const), rc: exitCode, reason: null };
  }

  async #run(
    hosts: readonly Connection[],
    order: (host: Connection) => ProgramOrder,
    endOf: (host: string, exitCode: number | null) => Promise<HostEnd>,
  ): Promise<Reason> {
    const { reason } = await this.#tools.execAll({
      items: hosts,
      atATime: this.#materials.forks,
      order: (each) => {
        const output = new HostOutput(each.host, this.#bytesMax);
        this.#outputs.set(each.host, output);
        return { ...order(each), sifts: output.sifts };
      },
      ended: async ({ host }, { exitCode, wasStopped }) => {
        const end = wasStopped
          ? { status: 'failed' as const, rc: null, reason: 'it was stopped before its end' }
          : await endOf(host, exitCode);
        await this.#finish(host, end);
      },
    });
    if (reason !== 'exited') this.#isStopped = true;
    return reason;
  }

  /** Takes the end of a host, and stores it with others. */
  async #finish(host: string, { status, rc, reason }: HostEnd): Promise<void> {
    this.#ends.set(host, { status, rc });
    if (reason !== null) this.#tools.say(`${host}: ${status}: ${reason}`);
    const output = this.#outputs.get(host);
    this.#outputs.delete(host);
    const stderr = `${output?.stderr ?? ''}${reason === null ? '' : `${reason}\n`}`;
    const stdout = this.#tools.redact(output?.stdout ?? '');
    const result = { host, status, rc, stdout, stderr: this.#tools.redact(stderr) };
    this.#batch.push(result);
    this.#batchBytes += result.stdout.length + result.stderr.length;
    if (this.#batch.length >= BATCH_HOSTS || this.#batchBytes >= BATCH_BYTES) await this.#store();
    // The end of the run waits for what is being stored, and rejects where that failed.
    else
      this.#cancelTimer ??= this.#tools.clock.after(BATCH_WITHIN_MS, () => void this.#store().catch(() => undefined));
  }

  /** One batch after the other. */
  #store(): Promise<void> {
    const batch = this.#batch;
    [this.#batch, this.#batchBytes] = [[], 0];
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (batch.length > 0) this.#storing = this.#storing.then(() => this.#tools.checkpoint(batch));
    return this.#storing;
  }

  async end(reason: Reason): Promise<RunEnd> {
    for (const { host } of this.#materials.hosts)
      if (!this.#ends.has(host)) await this.#finish(host, { status: 'failed', rc: null, reason: 'it was not begun' });
    await this.#store();
    const ends = [...this.#ends.values()];
    const exitCode = exitCodeOfHosts(ends);
    if (reason === 'cancelled') return { state: 'cancelled', exitCode };
    const isGood = reason === 'exited' && ends.every(({ status }) => status === 'ok');
    return { state: isGood ? 'succeeded' : 'failed', exitCode };
  }
}

interface HostEnd extends Pick<HostResult, 'status' | 'rc'> {
  /** In words, where there is more to say than the exit code. */
  readonly reason: string | null;
}
