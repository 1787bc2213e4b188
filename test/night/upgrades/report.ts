/** One line for each check, and which of them failed. */
import { patient } from '../../support/measure/slowness.ts';
import { IS_ALL_REQUIRED } from '../../support/tools.ts';

/** A check that takes longer hangs: the longest ones wait for several runs of terraform. */
const CHECK_LIMIT_MS = 300_000;

export class Report {
  readonly #failed: string[] = [];
  #passed = 0;
  #leftOut = 0;

  /** Runs a check within its limit, prints its line, and answers whether it passed. */
  async check(name: string, work: () => Promise<void>): Promise<boolean> {
    const late = Promise.withResolvers<never>();
    const timeout = setTimeout(() => late.reject(new Error('it took too long')), patient(CHECK_LIMIT_MS));
    try {
      await Promise.race([work(), late.promise]);
      this.#passed += 1;
      console.log(`ok: ${name}`);
      return true;
    } catch (error) {
      this.#failed.push(name);
      console.log(`not ok: ${name}: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    } finally {
      clearTimeout(timeout);
    }
  }

  /** Prints that a check was left out, which is a failure where all has to be there. */
  leaveOut(name: string, reason: string): void {
    if (IS_ALL_REQUIRED) this.#failed.push(name);
    else this.#leftOut += 1;
    console.log(`left out: ${name}: ${reason}`);
  }

  summary(): string {
    const counts = `${this.#passed} passed, ${this.#leftOut} left out, ${this.#failed.length} failed`;
    return [counts, ...this.#failed.map((name) => `  not ok: ${name}`)].join('\n');
  }

  get isGreen(): boolean {
    return this.#failed.length === 0;
  }
}
