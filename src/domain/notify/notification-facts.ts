import type { ApprovalState } from '../approvals/approval.ts';
import type { JobKind, JobState } from '../jobs/job.ts';

/** The facts of a notification. None of them is a value that an operator gave: names, states and counts only. */

export const NOTIFICATION_KINDS = [
  'approval',
  'approvals',
  'reminder',
  'decided',
  'job',
  'jobs',
  'workflow',
  'rule',
  'rules',
  'deadman',
  'test',
] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** What is asked. */
export interface AskedFacts {
  readonly approvalId: string;
  readonly jobId: string;
  readonly jobKind: JobKind;
  readonly runbook: string;
  readonly workspace: string | null;
  readonly requestedBy: string;
  readonly rule: string | null;
  readonly schedule: string | null;
  /** The subject of the event that the rule matched, such as `DiskFull on web1`, chosen by the sender. */
  readonly about: string | null;
  /** What it does, as a heading; absent in what earlier builds stored. */
  readonly heading?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Of the saved plan; null without one. */
  readonly plan: {
    readonly destroys: number;
    readonly changes: number;
    readonly creates: number;
    /** The counts in words; absent in what earlier builds stored. */
    readonly summary?: string;
  } | null;
  /** Whether one tap may approve it; absent in what earlier builds stored. */
  readonly oneTap?: boolean;
}

/** A job has ended. */
export interface EndedFacts {
  readonly kind: 'job';
  readonly jobId: string;
  readonly runbook: string;
  readonly state: JobState;
  readonly exitCode: number | null;
  /** Why, where there is more to say than the exit code; absent in what earlier builds stored. */
  readonly reason?: string | null;
}

/** A rule with the action `notify` matched an event. */
export interface MatchedFacts {
  readonly kind: 'rule';
  readonly rule: string;
  readonly eventId: string;
  readonly event: string;
  readonly message: string | null;
}

/** What a notification of each kind is about, beside its kind. */
interface FactsByKind {
  readonly approval: AskedFacts;
  readonly reminder: AskedFacts;
  readonly decided: AskedFacts & {
    readonly state: Exclude<ApprovalState, 'pending'>;
    /** In words for people. */
    readonly by: string | null;
    readonly via: string | null;
  };
  /** More came at once than a person would read one by one. */
  readonly approvals: { readonly count: number };
  readonly job: EndedFacts;
  /** `count` jobs beside those sent one by one; `first` are the oldest, `names` the distinct runbooks, one too many. */
  readonly jobs: {
    readonly count: number;
    readonly names: readonly string[];
    readonly states: Readonly<Partial<Record<JobState, number>>>;
    readonly first: readonly EndedFacts[];
  };
  /** A step of a run has no job: it could not be queued. */
  readonly workflow: { readonly workflow: string; readonly runId: string; readonly step: string };
  readonly rule: MatchedFacts;
  readonly rules: {
    readonly rule: string;
    readonly count: number;
    readonly names: readonly string[];
    readonly first: readonly MatchedFacts[];
  };
  readonly deadman: {
    readonly name: string;
    readonly webhook: string;
    readonly everyMs: number;
    readonly heard: boolean;
  };
  readonly test: { readonly by: string };
}

/** The facts of a notification of one of these kinds. */
export type FactsOf<K extends NotificationKind> = { [P in K]: { readonly kind: P } & FactsByKind[P] }[K];

export type NotificationFacts = FactsOf<NotificationKind>;
