/** What a run shows: each failure at once, and at the end where the time went, what was left out, and the counts. */
import { MISSING_PREFIX } from '../../test/support/tools.ts';
import type { Ended, Test } from './lane.ts';
import type { Lane } from './suites.ts';

const SLOWEST_SHOWN = 10;

/** The whole of a run. */
export class Report {
  readonly #beganMs = performance.now();
  readonly #failed: Test[] = [];
  readonly #files = new Map<string, number>();
  readonly #missing = new Map<string, number>();
  #passed = 0;
  #skipped = 0;
  #isStopped = false;

  get isGreen(): boolean {
    return this.#failed.length === 0 && !this.#isStopped;
  }

  /** What the tests that were left out need, and this machine does not have. */
  get missing(): readonly string[] {
    return [...this.#missing.keys()].toSorted();
  }

  ended(lane: Lane, { happened, ...test }: Ended): void {
    if (happened.nesting === 0) this.#files.set(test.file, (this.#files.get(test.file) ?? 0) + happened.ms);
    if (happened.type === 'fail' && happened.isByChild !== true) this.#fail(test, happened.error ?? '', lane);
    if (happened.type === 'fail' || happened.isSuite) return;
    if (happened.skipped === undefined) this.#passed += 1;
    else this.#leaveOut(happened.skipped);
  }

  #leaveOut(reason: string): void {
    this.#skipped += 1;
    if (!reason.startsWith(MISSING_PREFIX)) return;
    for (const name of reason.slice(MISSING_PREFIX.length).split(', '))
      this.#missing.set(name, (this.#missing.get(name) ?? 0) + 1);
  }

  #fail(test: Test, error: string, lane: Lane | null): void {
    this.#failed.push(test);
    const where = lane === null || lane.files.length === 1 ? '' : ` (lane ${lane.name})`;
    print(`\nFailed: ${place(test)}${where}\n${indented(error)}\n`);
  }

  /** A test that hangs, or whose process ended. */
  broken(test: Test, why: string): void {
    this.#fail(test, `${why}\nThe other tests of this file did not run.`, null);
  }

  /** Ends the run before its end; `running` are the tests that it stopped. */
  stopped(why: string, running: readonly Test[]): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    print(`${why}. ${running.length === 0 ? '' : 'It was stopped while these tests were running:'}`);
    for (const test of running) print(`  ${place(test)}`);
  }

  laneEnded({ name, files }: Lane, ms: number): void {
    print(`${this.#clock()} ${name}: ${files.length === 1 ? '' : `${files.length} files, `}${seconds(ms)}`);
  }

  progress(running: readonly Test[]): void {
    print(`${this.#clock()} ${count(this.#passed)} passed; running: ${running.map(({ file }) => file).join(', ')}`);
  }

  /** The last lines. */
  summary(): void {
    const all = [...this.#files.values()].reduce((sum, each) => sum + each, 0);
    const slowest = [...this.#files].toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
    print(`\nThe slowest files, with their share of ${seconds(all)}:`);
    for (const [file, ms] of slowest)
      print(`${seconds(ms).padStart(10)} ${((ms / all) * 100).toFixed(1).padStart(5)} %  ${file}`);
    if (this.#failed.length > 0) print('\nFailed:');
    for (const test of this.#failed) print(`  ${place(test)}`);
    print('');
    for (const [name, tests] of [...this.#missing].toSorted())
      print(`Left out, because this machine does not have ${name}: ${tests === 1 ? 'a test' : `${tests} tests`}.`);
    print(`${this.#passed} passed, ${this.#failed.length} failed, ${this.#skipped} skipped`);
  }

  #clock(): string {
    const all = Math.round((performance.now() - this.#beganMs) / 1000);
    return `[${Math.floor(all / 60)}:${String(all % 60).padStart(2, '0')}]`;
  }
}

function place({ file, line, title }: Test): string {
  return `${file}:${line} ${title}`;
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
