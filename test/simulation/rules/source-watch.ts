/** What must hold of jobs that use files of a git source. */
import type { Remotes } from '../programs/git/remotes.ts';
import type { Process } from '../programs/processes.ts';
import type { Rows, Watch } from './rules.ts';

const SOURCE = "select commit_id from sources where name = 'ops'";
const JOBS = `select id, initial_state, coalesce(redrive_of, rerun_of, '') as first from jobs where source = 'ops'`;

type JobFact = Readonly<Record<'id' | 'initial_state' | 'first', string>>;

export class SourceWatch {
  readonly #rows: Rows;
  readonly #watch: Watch;
  readonly #isOn: boolean;
  /** By job, the commits that it may use: those of the moment when it was asked for, or of each until it starts. */
  readonly #mayUse = new Map<string, Set<string>>();
  readonly #isFixed = new Set<string>();
  /** As of the last commit. */
  #before: string | null = null;

  /** `isOn`: the plan has sources. */
  constructor(rows: Rows, watch: Watch, isOn: boolean) {
    this.#rows = rows;
    this.#watch = watch;
    this.#isOn = isOn;
  }

  /** To be asked after each commit. */
  committed(): void {
    if (!this.#isOn) return;
    const [row] = this.#rows(SOURCE);
    const now = row === undefined ? null : String(row['commit_id']);
    for (const job of this.#rows(JOBS)) this.#lookAt(job as unknown as JobFact, now);
    this.#before = now;
  }

  /** A tool starts to use the files of its job. */
  ran({ jobId }: Process, commit: string | null): void {
    const may = this.#mayUse.get(jobId);
    if (may === undefined) return;
    if (commit === null) this.#watch.violated('G1', `${jobId} uses files of several commits, or not all of one`);
    else if (!may.has(commit)) {
      const [rule, what] = this.#isFixed.has(jobId) ? ['G2', 'was approved'] : ['G3', 'was asked for'];
      this.#watch.violated(rule, `${jobId} uses ${commit}, and ${what} with ${[...may].join(' or ')}`);
    }
  }

  /** The source was fetched again, as a caller was answered; `may` are the commits of its ref since the request. */
  synced(commit: string, may: readonly string[]): void {
    if (!may.includes(commit))
      this.#watch.violated('G5', `a sync was answered ${commit}, and the ref was ${may.join(', ')}`);
  }

  /** Once nothing can happen: no source has a commit that its ref never was. */
  lookAtRest(remotes: Remotes): void {
    if (!this.#isOn) return;
    for (const { name, ref, commit_id: commit } of this.#rows(
      "select name, ref, commit_id from sources where kind = 'git'",
    ))
      if (!remotes.commitsOf(String(ref)).includes(String(commit)))
        this.#watch.violated('G4', `the source ${String(name)} has ${String(commit)}, which ${String(ref)} never was`);
  }

  #lookAt({ id, initial_state: initial, first }: JobFact, now: string | null): void {
    const known = this.#mayUse.get(id);
    // One commit may hold the request and a sync.
    const these = [this.#before, now].filter((commit) => commit !== null);
    if (known !== undefined) {
      if (!this.#isFixed.has(id)) for (const commit of these) known.add(commit);
      return;
    }
    const before = this.#mayUse.get(first) ?? [];
    this.#mayUse.set(id, new Set([...before, ...these]));
    if (initial === 'awaiting_approval') this.#isFixed.add(id);
  }
}
