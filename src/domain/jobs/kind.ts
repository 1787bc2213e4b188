import type { RunFacts } from '../gate/run-approval.ts';

/** What shared code knows of a kind of job. Each row belongs to the area of its kind, see KINDS. */
export interface KindFacts<Spec> {
  /** Reads the `spec` of a stored job, in the form in which it was queued. */
  readSpec(json: string): Spec;
  /** The default `runbook` of a job. */
  runbook(spec: Spec): string;
  /** What a summary names after the words; by default the part of `runbook` after the kind. */
  about?(spec: Spec): string;
  /** The inventory whose hosts it works on; left out for a kind that has no inventory. */
  inventory?(spec: Spec): string;
  /** What an inventory or a source may hold until somebody approves it; left out for a kind that has neither. */
  run?(spec: Spec): RunFacts;
  /** The directory that an order itself names; left out for a kind whose orders name none. */
  directory?(spec: Spec): OrderDirectory | null;
  /** Whether a run leaves out plugins of a source that may have none: see PLUGIN_FOLDERS. */
  readonly leavesPlugins?: true;
  /** What a run starts, for an operator on the machine; left out for a kind that starts no program of its order. */
  command?(spec: Spec): JobCommand;
  readonly words: KindWords;
  /** Which processes get the stop signal first; `leader-first` if the tool cannot report after its helpers ended. */
  readonly stop: 'group' | 'leader-first';
  /**
   * Whether the process of its first program is recorded with the claim, before the run is prepared. Not for a kind
   * that asks later whether its program was started.
   */
  readonly startsAtOnce: boolean;
  /** What can allow approval with one tap: a saved plan without destroys, or the requesting rule. */
  readonly oneTap: 'by-plan' | 'by-rule' | 'never';
  /** Whether a run makes a saved plan: its view always has `plan_artifact_id`, and the plan does not stop a redrive. */
  readonly makesPlan: boolean;
  /** A link does not approve it: what it changes may be longer than its page. */
  readonly needsConsole?: true;
  /** Whether a run destroys everything that it works on: its approver is warned. */
  readonly destroysAll: boolean;
}

interface OrderDirectory {
  readonly path: string;
  /** What it was when the job was asked for, as the column of a source; null in orders of earlier builds. */
  readonly kept: string | null;
}

interface JobCommand {
  readonly words: readonly string[];
  /** Directories outside its run that it may write. */
  readonly writable?: readonly string[] | undefined;
}

interface KindWords {
  /** What an approval decides; a question mark may follow. */
  title(of: string, planned: boolean): string;
  /** The name of the kind on a button. */
  readonly short: string;
}
