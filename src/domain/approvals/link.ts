import type { Decision } from './approval.ts';

/** The absolute URL that a sender posts to; `origin` has no path and no trailing slash. */
export function hookUrl(origin: string, token: string): string {
  return `${origin}/hook/${token}`;
}

/** The absolute URL of a decision link. */
export function decisionUrl(origin: string, approvalId: string, decision: Decision, token: string): string {
  return `${origin}/approval/${approvalId}/${decision}?token=${token}`;
}
