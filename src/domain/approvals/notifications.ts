import { timeLeft } from '../duration.ts';
import { oneLine } from '../one-line.ts';
import {
  type AnyFacts,
  type NotificationAction,
  type NotificationContext,
  type NotificationRow,
  PLAIN,
  type Words,
} from '../notify/row.ts';
import type { JobKind } from '../jobs/job.ts';
import type { ApprovalState } from './approval.ts';

/** What is asked. */
export interface AskedFacts {
  readonly approvalId: string;
  readonly jobId: string;
  readonly jobKind: JobKind;
  readonly runbook: string;
  readonly workspace: string | null;
  readonly requestedBy: string;
  /** The reason that the requester gave; absent in what earlier builds stored. */
  readonly because?: string | null;
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
  /** What runs and where, in one line; only in a message of the level `full`, and never stored. */
  readonly order?: string | null;
  /** What the sender of the alert says of it; the same. */
  readonly senderSays?: string | null;
  /** Whether one tap may approve it; absent in what earlier builds stored. */
  readonly oneTap?: boolean;
}

interface DecidedFacts extends AskedFacts {
  readonly state: Exclude<ApprovalState, 'pending'>;
  /** In words for people. */
  readonly by: string | null;
  readonly via: string | null;
}

/** A request for a decision, first and again. */
const asked: NotificationRow<AskedFacts & AnyFacts> = {
  words: asks,
  terse: () => 'svc: 1 approval pending',
  jobIds: ({ jobId }) => jobId,
  asks: true,
  burst: null,
};

const decided: NotificationRow<DecidedFacts> = {
  ...PLAIN,
  words: wordsOfDecision,
  terse: (facts) => `svc: 1 approval ${facts.state}`,
  jobIds: ({ jobId }) => jobId,
};

/** More came at once than a person would read one by one. */
const approvals: NotificationRow<{ readonly count: number }> = {
  ...PLAIN,
  words: (facts, { baseUrl }) => ({
    title: `${facts.count} approvals pending`,
    message: 'More than are sent one by one came within a minute.',
    priority: 4,
    tags: ['raised_hand'],
    click: `${baseUrl}/approvals`,
  }),
  terse: (facts) => `svc: ${facts.count} approvals pending`,
};

export const APPROVAL_NOTIFICATIONS = { approval: asked, approvals, reminder: asked, decided };

function asks(facts: AskedFacts & AnyFacts, { now, links, baseUrl }: NotificationContext): Words {
  const { plan, requestedBy, jobId } = facts;
  const page = `${baseUrl}/approvals/${facts.approvalId}`;
  const asker = `Asked by ${requestedBy}${reasonsOf(facts)}`;
  const counts = plan === null ? '' : `${plan.summary ?? `${plan.changes} changes, ${plan.creates} creates`}. `;
  return {
    title: `${facts.kind === 'reminder' ? 'Still waiting:' : 'Approve?'} ${nameOf(facts)}`,
    message: `${counts}${orderOf(facts)}${asker}, ${timeLeft(facts.expiresAt - now)}. ${jobId}`,
    priority: plan !== null && plan.destroys > 0 ? 5 : 4,
    tags: [plan !== null && plan.destroys > 0 ? 'warning' : 'raised_hand'],
    click: page,
    ...(links === null ? {} : { actions: buttons(facts, links, page) }),
  };
}

/** Characters of what a sender says. */
const SENDER_CHARACTERS = 200;

function orderOf({ order = null, senderSays = null }: AskedFacts): string {
  const said = Array.from(senderSays ?? '')
    .slice(0, SENDER_CHARACTERS)
    .join('');
  return `${order === null ? '' : `${order} `}${said === '' ? '' : `The sender of the alert says: ${said}. `}`;
}

/** One tap approves only what is known to destroy nothing. Everything else opens the page that shows it. */
function buttons(
  facts: AskedFacts,
  links: NonNullable<NotificationContext['links']>,
  page: string,
): NotificationAction[] {
  const verb = facts.jobKind;
  return [
    facts.oneTap === true
      ? { action: 'http', label: oneLine(`Approve ${verb}`), url: links.approve, method: 'POST', clear: true }
      : { action: 'view', label: oneLine(`Review ${verb}`), url: links.approve },
    { action: 'http', label: oneLine(`Reject ${verb}`), url: links.reject, method: 'POST', clear: true },
    { action: 'view', label: oneLine(facts.plan === null ? 'Open' : 'Plan'), url: page },
  ];
}

const OUTCOMES = {
  approved: { word: 'Approved', after: 'The job is queued.', tag: 'white_check_mark' },
  rejected: { word: 'Rejected', after: 'Nothing runs.', tag: 'no_entry_sign' },
  expired: { word: 'Expired', after: 'No decision in time. Nothing runs.', tag: 'hourglass' },
} as const;

function wordsOfDecision(facts: DecidedFacts, { baseUrl }: NotificationContext): Words {
  const { word, after, tag } = OUTCOMES[facts.state];
  const by = facts.by === null ? '' : ` by ${facts.by}${facts.via === null ? '' : ` via ${facts.via}`}`;
  return {
    title: `${word}: ${nameOf(facts)}`,
    message: `${word}${by}. ${after} ${facts.jobId}`,
    priority: 2,
    tags: [tag],
    click: `${baseUrl}/approvals/${facts.approvalId}`,
  };
}

function nameOf({ heading, jobKind: kind, workspace, runbook, rule, schedule }: AskedFacts): string {
  if (heading !== undefined) return heading;
  if (workspace !== null) return `${kind} ${workspace}`;
  if (rule !== null) return `${kind} of rule ${rule}`;
  return schedule === null ? runbook : `${kind} of schedule ${schedule}`;
}

function reasonsOf(facts: AskedFacts): string {
  const { because = null } = facts;
  return `${causeOf(facts)}${because === null ? '' : `: ${oneLine(because)}`}`;
}

function causeOf({ rule, schedule, about }: AskedFacts): string {
  if (rule !== null) return ` (rule ${rule}${about === null ? '' : `: ${about}`})`;
  return schedule === null ? '' : ` (schedule ${schedule})`;
}
