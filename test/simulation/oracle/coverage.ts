import { OPERATIONS } from '../../../src/operations/table.ts';
import { RULES } from './rules.ts';

/** Not of an operation: a fault, and what only a face answers. */
const LEFT_OUT = ['internal', 'kdf_busy', 'streams_over_cap'];

/** What a run of many seeds has seen of the documented answers; `answers` counts them, as `operation answer`. */
export interface Coverage {
  /** Documented answers of modelled operations that did not come. */
  readonly missing: readonly string[];
  /** Those that no plan can have yet, each with the reason. */
  readonly unreached: readonly string[];
  /** Operations that were called, and that the oracle has no rule for. */
  readonly withoutRule: readonly string[];
}

export function coverageOf(answers: ReadonlyMap<string, number>): Coverage {
  const called = new Set([...answers.keys()].map((name) => name.slice(0, name.indexOf(' '))));
  const [missing, unreached]: [string[], string[]] = [[], []];
  for (const { id, answers: kinds, failures } of OPERATIONS) {
    const rule = RULES.get(id);
    if (rule === undefined) continue;
    for (const answer of [...kinds, ...failures.filter((code) => !LEFT_OUT.includes(code))]) {
      const why = rule.unreached?.[answer];
      if (answers.has(`${id} ${answer}`)) continue;
      if (why === undefined) missing.push(`${id} ${answer}`);
      else unreached.push(`${id} ${answer}: ${why}`);
    }
  }
  return { missing, unreached, withoutRule: [...called].filter((id) => !RULES.has(id)).toSorted() };
}

export function printCoverage({ missing, unreached, withoutRule }: Coverage): void {
  if (withoutRule.length > 0) console.log(`  without a rule: ${withoutRule.join(', ')}`);
  for (const each of unreached) console.log(`  not reached: ${each}`);
  if (missing.length > 0) console.log(`  documented, and not answered: ${missing.join(', ')}`);
}
