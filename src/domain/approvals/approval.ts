/** Words of approvals. */

/** The state machine: one conditional update leaves `pending`, and nothing returns to it. */
const APPROVAL_MOVES = {
  pending: ['approved', 'rejected', 'expired'],
  approved: [],
  rejected: [],
  expired: [],
} as const satisfies Record<string, readonly string[]>;

export type ApprovalState = keyof typeof APPROVAL_MOVES;
export const APPROVAL_STATES = Object.keys(APPROVAL_MOVES) as ApprovalState[];

/** Whether a rule, a schedule or a step waits for an approval before its job is queued. */
export const APPROVAL_CHOICES = ['none', 'required'] as const;
export type ApprovalChoice = (typeof APPROVAL_CHOICES)[number];

export const DECISIONS = ['approve', 'reject'] as const;
export type Decision = (typeof DECISIONS)[number];

/** Where the asking chain of a gated job began. */
export const ORIGINS = ['alert', 'manual', 'schedule'] as const;
export type Origin = (typeof ORIGINS)[number];

/** How long a request waits for an answer, in milliseconds; at its end it is refused. */
export const APPROVAL_TTL_DEFAULT_MS = 3_600_000;
export const APPROVAL_TTL_MAX_MS = 7 * 86_400_000;
/** Characters of the reason that accompanies a decision. */
export const REASON_MAX = 1_000;
