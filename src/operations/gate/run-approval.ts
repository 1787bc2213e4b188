import * as z from 'zod';
import { APPROVE_RUNS, type ApproveRuns, type RunApproval } from '../../domain/gate/run-approval.ts';
import { Failure } from '../../domain/failure.ts';
import { runApprovalIn } from '../../store/gate/gate.ts';
import type { RunApprovalColumns } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';

/** Which runs of an object need an approval. A source has no commands. */
function runApprovalFields<const T extends readonly ApproveRuns[]>(words: T, of: string) {
  return {
    approve_runs: field.oneOf(words).optional().describe(`${of} that wait for another person, who sees their words`),
    except_check: z
      .boolean({ error: 'expected true or false' })
      .optional()
      .describe('With approve_runs all: a playbook in check mode does not wait'),
  };
}

export const INVENTORY_RUNS = runApprovalFields(APPROVE_RUNS, 'Runs on it');
export const SOURCE_RUNS = runApprovalFields(['none', 'all'], 'Playbooks of it');

interface Given {
  readonly approve_runs?: ApproveRuns | undefined;
  readonly except_check?: boolean | undefined;
}

/** Undefined where it is not given. Throws invalid_argument. */
export function runApprovalOf({ approve_runs: runs, except_check: exceptCheck }: Given): RunApproval | undefined {
  if (exceptCheck === true && runs !== 'all')
    throw new Failure('invalid_argument', 'except_check: expected with approve_runs all.');
  return runs === undefined ? undefined : { runs, exceptCheck: exceptCheck === true };
}

/** For views, the ledger and a configuration file: only what somebody has set. */
export function shownRunApproval(columns: RunApprovalColumns): Partial<Shown> {
  const set = runApprovalIn(columns);
  return set === null ? {} : shown(set);
}

export function shown({ runs, exceptCheck }: RunApproval): Shown {
  return { approve_runs: runs, ...(exceptCheck ? { except_check: true } : {}) };
}

type Shown = Readonly<{ approve_runs: ApproveRuns; except_check?: true }>;

/** In a configuration file: what is set by hand is not unset by leaving it out. Throws conflict. */
export function refuseUnset(from: Readonly<Record<string, unknown>>, to: Readonly<Record<string, unknown>>): void {
  if (from['approve_runs'] !== undefined && to['approve_runs'] === undefined)
    throw new Failure('conflict', 'approve_runs: it was set before; write none, where no run is to wait.');
}
