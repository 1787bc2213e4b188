/** Which runs on an inventory, or of a source, need the approval of another person. */
export const APPROVE_RUNS = ['none', 'commands', 'all'] as const;
export type ApproveRuns = (typeof APPROVE_RUNS)[number];

export interface RunApproval {
  readonly runs: ApproveRuns;
  /** A playbook in check mode needs none. */
  readonly exceptCheck: boolean;
}

/** What is about to run. */
export type RunFacts = { readonly of: 'command' } | { readonly of: 'playbook'; readonly check: boolean };

/** What counts where nothing is set. */
export const UNSET: RunApproval = { runs: 'none', exceptCheck: false };
/** The same of a strict service. */
export const STRICT: RunApproval = { runs: 'all', exceptCheck: false };

export function needsApproval({ runs, exceptCheck }: RunApproval, run: RunFacts): boolean {
  if (runs === 'none') return false;
  return run.of === 'command' || (runs === 'all' && !(run.check && exceptCheck));
}
