import { readFileSync } from 'node:fs';
import type { QueryConfig } from 'pg';
import type { DiskFault, Machine } from '../../world/host.ts';
import type { World } from '../../world/world.ts';
import type { Eye } from './eye.ts';

const WRITES = /^\s*(?:insert|update|delete|with\b[\s\S]*\b(?:insert|update|delete)\b)/i;
/** As the server says it; the transaction is aborted. */
const FAULTS: Readonly<Record<DiskFault, string>> = {
  full: raise('53100', 'could not extend file: No space left on the disk'),
  broken: raise('58030', 'could not read block: Input/output error of the disk'),
};

/** A stopped process would keep the server from ending when a run is broken off. */
const STOPPED = new Set<number>();
process.on('exit', () => {
  for (const pid of STOPPED)
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It has ended.
    }
});

function raise(code: string, message: string): string {
  return `do $$ begin raise exception '${message}' using errcode = '${code}'; end $$`;
}

/** The server, as somebody sees it who may look at all sessions and end them. */
export class Server {
  readonly #eye: Eye;
  readonly #url: string;
  readonly #world: World;
  readonly #machine: Machine;

  /** `url` is of a database that no daemon uses. */
  constructor(eye: Eye, { url, world, machine }: { url: string; world: World; machine: Machine }) {
    this.#eye = eye;
    this.#url = url;
    this.#world = world;
    this.#machine = machine;
  }

  /** Sessions that wait for a lock. Who frees a lock writes down who has it next before it answers. */
  blocked(): ReadonlySet<number> {
    return this.#pids('select pid from pg_locks where not granted');
  }

  living(pids: Iterable<number>): ReadonlySet<number> {
    return this.#pids('select pid from pg_stat_activity where pid = any($1::int[])', [[...pids]]);
  }

  terminate(pid: number): void {
    this.#eye.rows(this.#url, 'select pg_terminate_backend($1)', [pid]);
  }

  cancel(pid: number): void {
    this.#eye.rows(this.#url, 'select pg_cancel_backend($1)', [pid]);
  }

  /** The process of a session that waits for a lock, and so has no latch of the server, stops until `resume`. */
  stop(pid: number): void {
    const program = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    if (!program.startsWith('postgres:')) throw new Error('the server must be on this machine');
    STOPPED.add(pid);
    process.kill(pid, 'SIGSTOP');
  }

  /** Nothing where it was not stopped. */
  resume(pid: number): void {
    if (STOPPED.delete(pid)) process.kill(pid, 'SIGCONT');
  }

  /** With the time of the world in place of the server's, and the fault that its disk has now. */
  rewritten(config: QueryConfig): QueryConfig {
    const { fault, until } = this.#machine.disk;
    if (until > this.#world.now && WRITES.test(config.text)) return { text: FAULTS[fault] };
    if (!config.text.includes('clock_timestamp()')) return { ...config };
    return { text: `select ${this.#world.wallOf({ machine: this.#machine })}::bigint as now` };
  }

  #pids(sql: string, values: readonly unknown[] = []): ReadonlySet<number> {
    return new Set(this.#eye.rows(this.#url, sql, values).map(({ pid }) => Number(pid)));
  }
}
