/** Words of rules. */

export const RULE_APPROVALS = ['none', 'required'] as const;
export type RuleApproval = (typeof RULE_APPROVALS)[number];

/** Actions that a rule file may name today; each kind is a row of ACTIONS in rule-file.ts. */
export const ACTION_KINDS = ['command', 'plan', 'apply', 'destroy', 'notify'] as const;
export type ActionKind = (typeof ACTION_KINDS)[number];
/** Kinds that a rule file may name and that are refused until their jobs exist. */
export const LATER_ACTION_KINDS = ['playbook', 'workflow', 'backup'] as const;

/**
 * What a rule or a schedule does. A value of a rule's may hold `${…}`: an expression over the event, checked as that
 * field's type. To look for drift is for schedules only: the end of such a run is an event that rules answer.
 */
export type Action =
  | {
      readonly kind: 'command';
      readonly command: readonly string[];
      readonly inventory: string;
      readonly limit: string | null;
      readonly timeout: string | null;
    }
  | {
      readonly kind: 'plan' | 'drift' | 'apply' | 'destroy';
      readonly workspace: string;
      readonly timeout: string | null;
    }
  | { readonly kind: 'notify'; readonly message: string | null };

/** A rule as its row has it, parsed. */
export interface Rule {
  readonly name: string;
  readonly enabled: boolean;
  readonly when: string;
  readonly cooldownMs: number | null;
  readonly approval: RuleApproval;
  readonly approvalTtlMs: number | null;
  readonly action: Action;
  /** Its command may be approved by one tap on a notification. */
  readonly oneTap?: boolean;
  /** The owners who stand behind the rule: they are in the asking chain of every job that it makes. */
  readonly owners: readonly string[];
  /** Stored by a build that took `${…}` in other places of a command, and any value there. */
  readonly isEarlier?: boolean;
}

export const MUTE_SCOPES = ['alert', 'host', 'global'] as const;
export type MuteScope = (typeof MUTE_SCOPES)[number];
