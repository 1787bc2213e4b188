/** A daemon that is cordoned, alone or for its restart, claims nothing. To be asked after each commit. */
import type { Rows, Watch } from './rules.ts';

export const CORDONED = `select node from node_cordons union select node from restarts where cordoned = 1`;
const RUNNING = `select jobs.id, daemons.node as node from jobs
  join daemons on daemons.id = jobs.daemon_id where state = 'running'`;

export class NodeWatch {
  readonly #rows: Rows;
  readonly #watch: Watch;
  /** As of the last commit. */
  #cordoned: ReadonlySet<string> = new Set();
  #running: ReadonlySet<string> = new Set();

  constructor(rows: Rows, watch: Watch) {
    this.#rows = rows;
    this.#watch = watch;
  }

  committed(): void {
    const cordoned = new Set(this.#rows(CORDONED).map(({ node }) => String(node)));
    const running = this.#rows(RUNNING);
    for (const { id, node } of running) {
      const isHeld = cordoned.has(String(node)) && this.#cordoned.has(String(node));
      if (isHeld && !this.#running.has(String(id)))
        this.#watch.violated('M2', `${String(id)} was claimed by ${String(node)}, which is cordoned`);
    }
    this.#running = new Set(running.map(({ id }) => String(id)));
    this.#cordoned = cordoned;
  }
}
