/** What a run shows: each failure at once, and at the end where the time went, what was left out, and the counts. */
import { MISSING_PREFIX } from '../../test/support/tools.ts';
import type { Ended, Test } from './lane.ts';
import type { Lane } from './suites.ts';

const SLOWEST_SHOWN = 10;
/** Of the files whose tests need what is missing. */
const FILES_SHOWN = 3;

/** The whole of a run. */
export class Report {
  readonly #beganMs = performance.now();
  readonly #print: (line: string) => void;
  readonly #failed: Test[] = [];
  readonly #files = new Map<string, number>();
  readonly #missing = new Map<string, Test[]>();
  #passed = 0;
  #skipped = 0;
  #isStopped = false;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** A run without a test proves nothing. */
  get isGreen(): boolean {
    return this.#failed.length === 0 && !this.#isStopped && this.#passed + this.#skipped > 0;
  }

  /** What the tests that were left out need, and this machine does not have. */
  get missing(): readonly string[] {
    return [...this.#missing.keys()].toSorted();
  }

  /** The files of the tests that were left out for them. */
  get filesLeftOut(): readonly string[] {
    return [...new Set([...this.#missing.values()].flat().map(({ file }) => file))].toSorted();
  }

  ended(lane: Lane, { happened, ...test }: Ended): void {
    if (happened.nesting === 0) this.#files.set(test.file, (this.#files.get(test.file) ?? 0) + happened.ms);
    if (happened.type === 'fail' && happened.isByChild !== true) this.#fail(test, happened.error ?? '', lane);
    if (happened.skipped !== undefined) this.#leaveOut(test, happened.skipped);
    else if (happened.type === 'pass' && !happened.isSuite) this.#passed += 1;
  }

  /** A suite that is left out counts once. */
  #leaveOut(test: Test, reason: string): void {
    this.#skipped += 1;
    if (!reason.startsWith(MISSING_PREFIX)) return;
    for (const name of reason.slice(MISSING_PREFIX.length).split(', '))
      this.#missing.set(name, [...(this.#missing.get(name) ?? []), test]);
  }

  #fail(test: Test, error: string, lane: Lane | null): void {
    this.#failed.push(test);
    const where = lane === null || lane.files.length === 1 ? '' : ` (lane ${lane.name})`;
    this.#print(`\nFailed: ${place(test)}${where}\n${indented(error)}\n`);
  }

  /** A test that hangs, or whose process ended. */
  broken(test: Test, why: string): void {
    this.#fail(test, `${why}\nThe other tests of this file did not run.`, null);
  }

  /** Ends the run before its end; `running` are the tests that it stopped. */
  stopped(why: string, running: readonly Test[]): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#print(`${why}.${running.length === 0 ? '' : ' It was stopped while these tests were running:'}`);
    for (const test of running) this.#print(`  ${place(test)}`);
  }

  laneEnded({ name, files }: Lane, ms: number): void {
    this.#print(`${this.#clock()} ${name}: ${files.length === 1 ? '' : `${files.length} files, `}${seconds(ms)}`);
  }

  progress(running: readonly Test[]): void {
    this.#print(
      `${this.#clock()} ${count(this.#passed)} passed; running: ${running.map(({ file }) => file).join(', ')}`,
    );
  }

  /** The last lines. */
  summary(): void {
    if (this.#files.size > 0) this.#showSlowest();
    if (this.#failed.length > 0) this.#print('\nFailed:');
    for (const test of this.#failed) this.#print(`  ${place(test)}`);
    this.#print('');
    for (const name of this.missing) this.#print(leftOut(name, this.#missing.get(name) ?? []));
    this.#print(`${this.#passed} passed, ${this.#failed.length} failed, ${this.#skipped} skipped`);
  }

  #showSlowest(): void {
    const all = [...this.#files.values()].reduce((sum, each) => sum + each, 0);
    const slowest = [...this.#files].toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
    this.#print(`\nThe slowest files, with their share of ${seconds(all)}:`);
    for (const [file, ms] of slowest)
      this.#print(`${seconds(ms).padStart(10)} ${((ms / all) * 100).toFixed(1).padStart(5)} %  ${file}`);
  }

  #clock(): string {
    const all = Math.round((performance.now() - this.#beganMs) / 1000);
    return `[${Math.floor(all / 60)}:${String(all % 60).padStart(2, '0')}]`;
  }
}

function leftOut(name: string, tests: readonly Test[]): string {
  const files = [...new Set(tests.map(({ file }) => file))];
  const shown = files.slice(0, FILES_SHOWN).join(', ');
  const more = files.length > FILES_SHOWN ? ` and ${files.length - FILES_SHOWN} more files` : '';
  const count = tests.length === 1 ? '1 test' : `${tests.length} tests`;
  return `Left out, because this machine does not have ${name}: ${count} in ${shown}${more}.`;
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
