import { isOneTap } from '../../domain/approvals/one-tap.ts';
import { headingOf } from '../../domain/approvals/summary.ts';
import type { AskedFacts } from '../../domain/approvals/notifications.ts';
import { hostOf } from '../../domain/rules/mute.ts';
import { orderLine, whatTheSenderSays } from '../../domain/jobs/order-words.ts';
import { fromJson } from '../../lib/json.ts';
import { summaryFacts } from '../../operations/approvals/approval-view.ts';
import { orderFor } from '../../operations/approvals/decision-subject.ts';
import type { SecretPlace } from '../../operations/secrets/hide-secrets.ts';
import { type ShownApproval, shownApproval } from '../../operations/approvals/checked-request.ts';
import { findListedApproval, type ListedApproval } from '../../store/approvals/approvals.ts';
import type { TagReader } from '../../store/engine/tags/tags.ts';

/** A request at the time when its notification is sent. */
interface AskedNow {
  readonly facts: AskedFacts;
  /** Whether it may be decided: it is pending, and no row of it was changed in the database. */
  readonly isOpen: boolean;
}

/**
 * Reads a request again: the row of a notification has no tag, and a person may decide by its text and its buttons
 * alone. `stored` are the facts of that row: of a request that is not pending, only its ids are used.
 */
export async function askedNow(on: TagReader, stored: AskedFacts): Promise<AskedNow> {
  const listed = await findListedApproval(on.db, stored.approvalId);
  if (listed?.state !== 'pending') return { facts: { ...stored, ...NOT_PENDING }, isOpen: false };
  const row = await shownApproval(on, listed);
  return { facts: factsOf(row), isOpen: row.fault === null };
}

const NOT_PENDING = {
  heading: 'a request that is no longer pending',
  plan: null,
  rule: null,
  schedule: null,
  about: null,
  oneTap: false,
} as const;

/** The facts of a request, of rows that were checked while it is pending: a person decides by them. */
export async function askedFacts(on: TagReader, listed: ListedApproval): Promise<AskedFacts> {
  return factsOf(await shownApproval(on, listed));
}

function factsOf(row: ShownApproval): AskedFacts {
  const { fault, destroys, changes, creates, plan_summary: summary } = row;
  return {
    approvalId: row.id,
    jobId: row.job_id,
    jobKind: row.kind,
    runbook: row.runbook,
    workspace: row.workspace,
    requestedBy: row.requested_by,
    because: row.because,
    rule: row.rule,
    schedule: row.schedule,
    about: aboutOf(row),
    heading: headingOf(summaryFacts(row)),
    expiresAt: row.expires_at,
    plan:
      fault !== null || destroys === null || changes === null || creates === null || summary === null
        ? null
        : { destroys, changes, creates, summary },
    oneTap: fault === null && isOneTap({ kind: row.kind, destroys, ruleAllows: row.one_tap === 1 }),
  };
}

/** What is ordered, for a message that may say it; it is never stored with the notification. */
export async function orderWords(place: SecretPlace, jobId: string): Promise<Pick<AskedFacts, 'order' | 'senderSays'>> {
  const order = await orderFor(place, { job_id: jobId });
  // Without the words the message leads to the page, which says why they are missing.
  return typeof order === 'string' ? {} : { order: orderLine(order), senderSays: whatTheSenderSays(order) };
}

/** The longest text of a sender that is shown; a name may have 256 characters. */
const ABOUT_CHARACTERS = 120;

function aboutOf({ event_name: name, event_labels: labels }: ListedApproval): string | null {
  if (name === null || name === '') return null;
  const host = labels === null ? null : hostOf(fromJson(labels));
  return Array.from(`${name}${host === null ? '' : ` on ${host}`}`)
    .slice(0, ABOUT_CHARACTERS)
    .join('');
}
