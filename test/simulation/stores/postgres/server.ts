import type { QueryConfig } from 'pg';
import type { Machine } from '../../world/host.ts';
import type { World } from '../../world/world.ts';
import type { Eye } from './eye.ts';

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

  /** With the time of the world in place of the server's. */
  rewritten(config: QueryConfig): QueryConfig {
    if (!config.text.includes('clock_timestamp()')) return { ...config };
    return { text: `select ${this.#world.wallOf({ machine: this.#machine })}::bigint as now` };
  }

  #pids(sql: string, values: readonly unknown[] = []): ReadonlySet<number> {
    return new Set(this.#eye.rows(this.#url, sql, values).map(({ pid }) => Number(pid)));
  }
}
