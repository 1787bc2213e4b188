/** A verb of the command line: what it takes, and how it behaves. Data only, since the tree is kept as JSON. */
export interface CliFace extends VerbBehaviour {
  /** Noun and verb. */
  readonly verb: string;
  /** Fields given by position, in order; a trailing array field takes all the rest, after `--` too. */
  readonly positionals?: readonly string[];
  /** Fields that become no flag. */
  readonly omit?: readonly string[];
  /** Two at most, first in the help. */
  readonly examples: readonly string[];
  /** Further verbs of the same operation. */
  readonly aliases?: readonly CliAlias[];
}

export interface CliAlias extends Omit<CliFace, 'aliases'> {
  readonly summary: string;
}

/** No verb of the name of the operation, with the reason that users are given; verbs that preset a field instead. */
export interface NoVerb {
  readonly none: string;
  readonly aliases?: readonly CliAlias[];
}

export interface VerbBehaviour {
  /** Fields with a fixed value; they become no flags. */
  readonly preset?: Readonly<Record<string, string>>;
  /** What `--wait` waits for. */
  readonly wait?: WaitMode;
  /** Polls the job until it has ended, with `--timeout`. */
  readonly until?: 'ended';
  /** Shows a stream until it ends. */
  readonly follow?: FollowMode;
  readonly confirm?: Confirm;
  /** In text, first names the approvals that wait and have this field in common with what `name` names. */
  readonly waiting?: 'workspace';
  readonly stdin?: ValueInput;
  /** A verb with the same fields whose answer text mode shows before this one, where the caller may read it. */
  readonly first?: string;
  /** A verb with the same fields whose answer text mode shows after this one. */
  readonly next?: string;
  /** What text mode adds on standard error, after the answer. */
  readonly remark?: Remark;
  /** The words for one row of a list that flags filter. */
  readonly item?: string;
  /** Exits with 2 unless this list of the answer is empty. */
  readonly differs?: string;
  /** Shows what it has removed. */
  readonly removes?: true;
  /** In text, what it did to the job in place of the job. */
  readonly cancels?: true;
}

/** At the end: `job` shows the job, `result` what its command printed, `plan` the job and how to apply its plan. */
export type JobWaitMode = 'job' | 'result' | 'plan';

/**
 * Polled, with `--timeout`: `steps` shows each step of a run of a workflow as it changes, and the run at its end;
 * `safe` waits until a reboot interrupts no job; `restarted` until a restart in place has ended.
 */
export type PollMode = 'steps' | 'safe' | 'restarted';

export type WaitMode = JobWaitMode | PollMode;

/**
 * `down` probes a check that was made or changed; `prober` names the process whose settings a probe used; `became` says
 * what became of an event, on standard output.
 */
export type Remark = 'down' | 'prober' | 'became';

export type FollowMode = 'job' | 'approvals';

/** A question before the operation is called. `{field}` stands for the value of a field. */
export type Confirm =
  /**
   * Asks for yes. Without a terminal, `--yes` is required. With the flag `preview` the verb changes nothing and asks
   * nothing; at a terminal what it answers with that flag is shown before the question. With `when` it asks only if
   * that flag is given.
   */
  | { readonly by: 'yes'; readonly question: string; readonly preview?: string; readonly when?: string }
  /** Asks for the name of the thing. Without a terminal, `--yes` is required. */
  | { readonly by: 'name'; readonly warning: string }
  /**
   * Shows what the verb `scan` answers for the same fields, asks for yes, and sets `field` to the fingerprints of the
   * keys that it showed. A given `field` is in place of the question. Without a terminal, `--yes` or it is required.
   */
  | { readonly by: 'host-keys'; readonly scan: string; readonly field: string }
  /** Asks for the name of the workspace if the plan of the approval destroys anything. The same without a terminal. */
  | { readonly by: 'plan' };

/** A field that is never on the command line: it is read from the file of `--file`, else from standard input. */
export interface ValueInput {
  readonly field: string;
  /** The field that gets the folder of the file, for paths that the file names. */
  readonly folderField?: string;
  /** Its word in messages. */
  readonly what: string;
  /** What the user does about bytes that are not text. */
  readonly cure: string;
  /** The question at a terminal, with `{field}` for a field; null if such a value is not typed. */
  readonly question: string | null;
  /** More is not read; by default as much as a secret may have. */
  readonly bytesMax?: number;
}
