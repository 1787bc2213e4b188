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

const RULE = "select action as text, enabled from rules where name = 'site'";
/** What the rule did and what was done to it, in the order of each daemon. */
const MOVES = `select chain, seq, operation, target, detail from ledger
  where operation like 'rule.%' and (target = 'site' or json_extract(detail, '$.rule') = 'site')
  order by chain, seq`;

/** The version of the rule; null where it is not there, or disabled. */
type RuleState = number | null;

export class SiteWatch {
  readonly #rows: Rows;
  readonly #watch: Watch;
  #before: ReadonlySet<number> = new Set();
  readonly #seen = new Set<string>();
  /** The set was there at some time. */
  #isOn = false;
  #ruleBefore: RuleState = null;
  /** Of the ledger. */
  readonly #known = new Set<string>();

  constructor(rows: Rows, watch: Watch) {
    this.#rows = rows;
    this.#watch = watch;
  }

  committed(): void {
    const found = VERSIONS.flatMap((sql) => this.#rows(sql)).map(({ text }) => versionIn(text));
    const now = new Set(found);
    if (now.size > 1) this.#watch.violated('F1', `the objects of one file have the versions ${[...now].join(', ')}`);
    this.#isOn ||= now.size > 0;
    if (this.#before.size > 0 || now.size > 0) this.#lookAtJobs(now);
    this.#before = now;
    if (this.#isOn) this.#lookAtFires();
  }

  /** A commit has moves of one daemon, in this order: what was changed before a job was made counts for it. */
  #lookAtFires(): void {
    const [rule] = this.#rows(RULE);
    const state: RuleState = rule?.['enabled'] === 1 ? versionIn(rule['text']) : null;
    const moves = this.#rows(MOVES).filter(({ chain, seq }) => !this.#known.has(`${String(chain)} ${String(seq)}`));
    const isChange = moves.map(({ operation }) => operation !== 'rule.fire');
    for (const [at, { chain, seq, target }] of moves.entries()) {
      this.#known.add(`${String(chain)} ${String(seq)}`);
      if (isChange[at] === true) continue;
      const [isFirst, isLast] = [!isChange.slice(0, at).includes(true), !isChange.slice(at).includes(true)];
      // Between two changes of one commit it was what no one sees.
      if (!isFirst && !isLast) continue;
      const held = isFirst ? this.#ruleBefore : state;
      const [job] = this.#rows('select spec from jobs where id = ?', String(target));
      if (job !== undefined && versionIn(job['spec']) !== held)
        this.#watch.violated(
          'F5',
          `the rule made ${String(target)} of version ${versionIn(job['spec'])}, and was ${held ?? 'off'}`,
        );
    }
    this.#ruleBefore = state;
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
