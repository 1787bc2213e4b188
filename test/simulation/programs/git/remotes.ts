/** A server with a git repository: its refs move, are removed, and it is lost for a while. */
import { Failure } from '../../../../src/domain/failure.ts';
import { theWorld } from '../../world/current.ts';
import type { Process } from '../processes.ts';

/** A tool runs files of a commit; null where its copy has files of several, or not all of them. */
type OnRun = (process: Process, commit: string | null) => void;

export const MAIN = 'main';
/** Every tree has them, each with the commit that it is of. */
export const FILES = ['site.yml', 'roles/web/tasks/main.yml', 'roles/db/tasks/main.yml'];

const COMMIT = /^# commit ([0-9a-f]{40})$/m;
const COMMIT_BYTES = 20;

let current: Remotes | null = null;

export function theRemotes(): Remotes {
  if (current === null) throw new Error('there are no remotes');
  return current;
}

export class Remotes {
  /** What a ref was, oldest first. */
  readonly #history = new Map<string, string[]>();
  readonly #refs = new Map<string, string>();
  readonly #onRun: OnRun;
  #lostUntil = 0;

  private constructor(onRun: OnRun) {
    this.#onRun = onRun;
  }

  static open(onRun: OnRun): Remotes {
    current = new Remotes(onRun);
    current.push(MAIN);
    return current;
  }

  push(ref: string): void {
    const commit = theWorld().chance.of('remotes').bytes(COMMIT_BYTES).toString('hex');
    theWorld().note(`${ref} is ${commit}`);
    this.#refs.set(ref, commit);
    this.#history.set(ref, [...(this.#history.get(ref) ?? []), commit]);
  }

  drop(ref: string): void {
    this.#refs.delete(ref);
  }

  lose(forMs: number): void {
    this.#lostUntil = theWorld().now + forMs;
  }

  allUp(): void {
    this.#lostUntil = 0;
  }

  /** What the ref was from its `from`th commit on. */
  commitsOf(ref: string, from = 0): readonly string[] {
    return this.#history.get(ref)?.slice(from) ?? [];
  }

  /** The commit of a ref, or that has this id. Throws what git says. */
  resolve(ref: string): string {
    if (this.#lostUntil > theWorld().now) throw new Failure('unavailable', 'git: the server cannot be reached.');
    const isCommit = [...this.#history.values()].some((all) => all.includes(ref));
    const commit = isCommit ? ref : this.#refs.get(ref === 'HEAD' ? MAIN : ref);
    if (commit === undefined) throw new Failure('unavailable', `git: couldn't find remote ref ${ref}`);
    return commit;
  }

  /** The texts of the files that a tool found; null for one that is not there. */
  ran(process: Process, texts: readonly (string | null)[]): void {
    const commits = new Set(texts.map((text) => COMMIT.exec(text ?? '')?.[1] ?? null));
    const [commit = null] = commits;
    theWorld().note(`${process.jobId} uses ${[...commits].join(' and ')}`);
    this.#onRun(process, commits.size === 1 ? commit : null);
  }
}

export function isOfCommit(text: string): boolean {
  return COMMIT.test(text);
}

export function textOf(commit: string): string {
  return `# commit ${commit}\n- hosts: all\n`;
}
