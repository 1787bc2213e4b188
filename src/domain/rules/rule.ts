import { APPROVAL_CHOICES, type ApprovalChoice } from '../approvals/approval.ts';
import type { RuleAction } from './actions.ts';

/** Words of rules. */

export const RULE_APPROVALS = APPROVAL_CHOICES;
export type RuleApproval = ApprovalChoice;

/** A rule as its row has it, parsed. */
export interface Rule {
  readonly name: string;
  readonly enabled: boolean;
  readonly when: string;
  readonly cooldownMs: number | null;
  readonly approval: RuleApproval;
  readonly approvalTtlMs: number | null;
  readonly action: RuleAction;
  /** Its command may be approved by one tap on a notification. */
  readonly oneTap?: boolean;
  /** The owners of the rule: they are in the asking chain of every job that it makes. */
  readonly owners: readonly string[];
  /** What it does, in the words of its author; null or absent without one. */
  readonly summary?: string | null;
  /** Stored by a build that accepted `${…}` in other places of a command, and any value there. */
  readonly isEarlier?: boolean;
}

export const MUTE_SCOPES = ['alert', 'host', 'global'] as const;
export type MuteScope = (typeof MUTE_SCOPES)[number];
