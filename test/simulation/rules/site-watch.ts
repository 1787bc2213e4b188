/**
 * What must hold of the objects of the set `site` after each commit: they are changed together, and what is done by one
 * of them is done as it says now.
 */
import type { Rows, Watch } from './rules.ts';

/** The version of each object that is there. */
const VERSIONS = [
  "select model as text from inventories where name = 'site'",
  "select action as text from rules where name = 'site'",
  "select action as text from schedules where name = 'site'",
  "select definition as text from workflows where name = 'site'",
];
const JOBS = `select id, spec, initial_state, "trigger" from jobs where spec like '%site-v%'`;
const STEPS = `select run_id, spec from workflow_steps join jobs on jobs.id = job_id where spec like '%site-v%'`;

export class SiteWatch {
  readonly #rows: Rows;
  readonly #watch: Watch;
  #before: ReadonlySet<number> = new Set();
  readonly #seen = new Set<string>();

  constructor(rows: Rows, watch: Watch) {
    this.#rows = rows;
    this.#watch = watch;
  }

  committed(): void {
    const found = VERSIONS.flatMap((sql) => this.#rows(sql)).map(({ text }) => versionIn(text));
    const now = new Set(found);
    if (now.size > 1) this.#watch.violated('F1', `the objects of one file have the versions ${[...now].join(', ')}`);
    if (this.#before.size > 0 || now.size > 0) this.#lookAtJobs(now);
    this.#before = now;
  }

  /** One commit may hold a change and what came before or after it. */
  #lookAtJobs(now: ReadonlySet<number>): void {
    for (const { id, spec, initial_state: initial, trigger } of this.#rows(JOBS)) {
      if (this.#seen.has(String(id))) continue;
      this.#seen.add(String(id));
      if (trigger !== 'rule' && trigger !== 'schedule') continue;
      const version = versionIn(spec);
      if (!now.has(version) && !this.#before.has(version))
        this.#watch.violated('F2', `${String(id)} is of version ${version} of a ${trigger}, which was replaced before`);
      if ((initial === 'awaiting_approval') !== (version % 2 === 1))
        this.#watch.violated(
          'F3',
          `${String(id)} is of version ${version} of a ${trigger}, and was ${String(initial)}`,
        );
    }
    const runs = Map.groupBy(this.#rows(STEPS), ({ run_id: run }) => String(run));
    for (const [run, steps] of runs) {
      const versions = new Set(steps.map(({ spec }) => versionIn(spec)));
      if (versions.size > 1)
        this.#watch.violated('F4', `the steps of the run ${run} are of the versions ${[...versions].join(', ')}`);
    }
  }
}

/** As the word of a command or the name of a host says it. */
function versionIn(text: unknown): number {
  return Number(/site-v(\d)/.exec(String(text))?.[1] ?? 0);
}
