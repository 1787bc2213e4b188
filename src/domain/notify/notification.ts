import { formatDuration } from '../duration.ts';
import { JOB_STATES } from '../jobs/job.ts';
import { oneLine, type OneLine } from '../one-line.ts';
import type { AskedFacts, EndedFacts, MatchedFacts, NotificationFacts } from './notification-facts.ts';

/**
 * The texts of notifications. A notification never holds a value that an operator gave: names, states and counts only.
 */

/** How much a lock screen shows. Only `full` has buttons. */
export const PUSH_DETAILS = ['full', 'summary', 'terse'] as const;
export type PushDetail = (typeof PUSH_DETAILS)[number];

/** A button. `http` sends a POST to its URL, `view` opens it. */
interface NotificationAction {
  readonly action: 'http' | 'view';
  readonly label: OneLine;
  readonly url: string;
  readonly method?: 'POST';
  /** Takes the notification away once the request has succeeded. */
  readonly clear?: true;
}

/** What is sent, in the form and with the names that ntfy gives it. */
export interface NotificationMessage {
  /** The same for every try, so that a phone can show a repeat once. */
  readonly id: string;
  readonly title: OneLine;
  /** One line too: senders choose parts of it, and in a mail the buttons are lines. */
  readonly message: OneLine;
  /** 1 to 5; 3 is usual. */
  readonly priority: number;
  readonly tags: readonly string[];
  readonly click: string;
  readonly actions: readonly NotificationAction[];
}

export interface NotificationContext {
  readonly id: string;
  readonly detail: PushDetail;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Where the pages are, without a slash at the end. */
  readonly baseUrl: string;
  /** The capability URLs of this recipient; null if it gets none. */
  readonly links: { readonly approve: string; readonly reject: string } | null;
}

type Words = Omit<NotificationMessage, 'id' | 'title' | 'message' | 'actions'> & {
  readonly title: string;
  readonly message: string;
  readonly actions?: readonly NotificationAction[];
};

/** The words and buttons of a page at a rung. */
export function composeNotification(facts: NotificationFacts, context: NotificationContext): NotificationMessage {
  const { title, message, ...others } = wordsOf(facts, context);
  const words = { ...others, title: oneLine(title), message: oneLine(message) };
  const whole = { ...words, id: context.id, actions: context.detail === 'full' ? (words.actions ?? []) : [] };
  if (context.detail !== 'terse') return whole;
  return { ...whole, title: oneLine(terseTitle(facts)), message: oneLine(jobIdsOf(facts)) };
}

function wordsOf(facts: NotificationFacts, context: NotificationContext): Words {
  const at = (path: string): string => `${context.baseUrl}${path}`;
  switch (facts.kind) {
    case 'approval':
    case 'reminder':
      return asks(facts, context, at);
    case 'decided':
      return decided(facts, at);
    case 'approvals':
      return {
        title: `${facts.count} approvals pending`,
        message: 'More than are sent one by one came within a minute.',
        priority: 4,
        tags: ['raised_hand'],
        click: at('/approvals'),
      };
    case 'job':
      return ended(facts, at);
    case 'jobs':
      return endedMany(facts, at);
    case 'rule':
      return matched(facts, at);
    case 'rules':
      return matchedMany(facts, at);
    case 'deadman':
      return facts.heard
        ? {
            title: `${facts.name} is heard again`,
            message: `Webhook ${facts.webhook} got a message.`,
            priority: 3,
            tags: ['white_check_mark'],
            click: at('/events'),
          }
        : {
            title: `${facts.name} is silent`,
            message: `Webhook ${facts.webhook} got no message for ${formatDuration(facts.everyMs)}.`,
            priority: 5,
            tags: ['skull'],
            click: at('/events'),
          };
    case 'test':
      return {
        title: 'Test notification',
        message: `Requested by ${facts.by}. Notifications arrive here.`,
        priority: 3,
        tags: ['wave'],
        click: at('/devices'),
      };
  }
}

function asks(
  facts: AskedFacts & { kind: 'approval' | 'reminder' },
  { now, links }: NotificationContext,
  at: (path: string) => string,
): Words {
  const { plan, requestedBy, jobId } = facts;
  const counts = plan === null ? '' : `${plan.changes} changes, ${plan.creates} creates. `;
  const again = facts.kind === 'reminder' ? 'Still waiting: ' : '';
  return {
    title: `${again}${nameOf(facts)}${plan === null ? '' : `: ${plan.destroys} destroys`}`,
    message: `${counts}Asked by ${requestedBy}${causeOf(facts)}, ${timeLeft(facts.expiresAt - now)}. ${jobId}`,
    priority: plan !== null && plan.destroys > 0 ? 5 : 4,
    tags: [plan !== null && plan.destroys > 0 ? 'warning' : 'raised_hand'],
    click: at(`/approvals/${facts.approvalId}`),
    ...(links === null ? {} : { actions: buttons(facts, links, at(`/approvals/${facts.approvalId}`)) }),
  };
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The time left, as precise as a person needs it: `40s left`, `1m 30s left`, `5m left`, `1h 5m left`, `2d 3h left`. */
export function timeLeft(ms: number): string {
  if (ms < SECOND_MS / 2) return 'no time left';
  // Two units at most, and seconds only where they matter. Rounded, because an hour that began a moment ago is an hour.
  const unit = ms < 2 * MINUTE_MS - SECOND_MS / 2 ? SECOND_MS : ms < DAY_MS - MINUTE_MS / 2 ? MINUTE_MS : HOUR_MS;
  const words = formatDuration(Math.round(ms / unit) * unit).replace(/(?<=[a-z])(?=\d)/g, ' ');
  return `${words} left`;
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

function decided(facts: Extract<NotificationFacts, { kind: 'decided' }>, at: (path: string) => string): Words {
  const { word, after, tag } = OUTCOMES[facts.state];
  const by = facts.by === null ? '' : ` by ${facts.by}${facts.via === null ? '' : ` via ${facts.via}`}`;
  return {
    title: `${word}: ${nameOf(facts)}`,
    message: `${word}${by}. ${after} ${facts.jobId}`,
    priority: 2,
    tags: [tag],
    click: at(`/approvals/${facts.approvalId}`),
  };
}

function ended({ jobId, runbook, state, exitCode }: EndedFacts, at: (path: string) => string): Words {
  const good = state === 'succeeded' || state === 'degraded';
  const code = exitCode === null ? '' : ` with exit code ${exitCode}`;
  return {
    title: `${runbook} ${state}`,
    message: `Job ${jobId} ${state}${code}.`,
    priority: good ? 3 : 4,
    tags: [good ? 'white_check_mark' : 'rotating_light'],
    click: at(`/jobs/${jobId}`),
  };
}

type Many<K extends 'jobs' | 'rules'> = Extract<NotificationFacts, { kind: K }>;

function endedMany({ count, names, states, first }: Many<'jobs'>, at: (path: string) => string): Words {
  const [only] = first;
  if (count === 1 && only !== undefined) return ended(only, at);
  const counts = JOB_STATES.flatMap((state) => (states[state] === undefined ? [] : [`${states[state]} ${state}`]));
  return {
    title: `${count} jobs ended: ${counts.join(', ')}`,
    message: `More ended at once than are sent one by one: ${namesOf(names)}. ${listOf(
      first.map(({ jobId }) => jobId),
      count,
    )}`,
    priority: 4,
    tags: ['rotating_light'],
    click: at('/jobs'),
  };
}

function matched({ rule, eventId, event, message }: MatchedFacts, at: (path: string) => string): Words {
  return {
    title: message ?? `Rule ${rule} matched`,
    message: `${event} (rule ${rule}, ${eventId})`,
    priority: 3,
    tags: ['bell'],
    click: at(`/events/${eventId}`),
  };
}

function matchedMany({ rule, count, names, first }: Many<'rules'>, at: (path: string) => string): Words {
  const [only] = first;
  if (count === 1 && only !== undefined) return matched(only, at);
  const said = [...new Set(first.flatMap(({ message }) => message ?? []))];
  const what = said.length === 0 ? '' : `${said[0]}${said.length > 1 ? ' (and other messages)' : ''}: `;
  return {
    title: `Rule ${rule} matched ${count} times`,
    message: `${what}${namesOf(names)}. ${listOf(
      first.map(({ eventId }) => eventId),
      count,
    )}`,
    priority: 3,
    tags: ['bell'],
    click: at('/events'),
  };
}

/** Names that a page lists at most. */
export const NAMES_MAX = 3;

function namesOf(names: readonly string[]): string {
  return `${names.slice(0, NAMES_MAX).join(', ')}${names.length > NAMES_MAX ? ' and others' : ''}`;
}

function listOf(ids: readonly string[], count: number): string {
  return `${ids.join(', ')}${count > ids.length ? ` and ${count - ids.length} more` : ''}`;
}

/** What a page about jobs holds at every rung. */
function jobIdsOf(facts: NotificationFacts): string {
  if (facts.kind === 'jobs')
    return listOf(
      facts.first.map(({ jobId }) => jobId),
      facts.count,
    );
  return 'jobId' in facts ? facts.jobId : '';
}

function nameOf({ jobKind: kind, workspace, runbook, rule, schedule }: AskedFacts): string {
  if (workspace !== null) return `${kind} ${workspace}`;
  if (rule !== null) return `${kind} of rule ${rule}`;
  return schedule === null ? runbook : `${kind} of schedule ${schedule}`;
}

function causeOf({ rule, schedule, about }: AskedFacts): string {
  if (rule !== null) return ` (rule ${rule}${about === null ? '' : `: ${about}`})`;
  return schedule === null ? '' : ` (schedule ${schedule})`;
}

/** Says that something is there, and nothing of what. */
function terseTitle(facts: NotificationFacts): string {
  switch (facts.kind) {
    case 'approval':
    case 'reminder':
      return 'svc: 1 approval pending';
    case 'approvals':
      return `svc: ${facts.count} approvals pending`;
    case 'decided':
      return `svc: 1 approval ${facts.state}`;
    case 'job':
      return `svc: 1 job ${facts.state}`;
    case 'jobs':
      return facts.count === 1 ? `svc: 1 job ${facts.first[0]?.state ?? 'ended'}` : `svc: ${facts.count} jobs ended`;
    case 'rule':
      return 'svc: a rule matched';
    case 'rules':
      return facts.count === 1 ? 'svc: a rule matched' : `svc: a rule matched ${facts.count} times`;
    case 'deadman':
      return facts.heard ? 'svc: a watch is heard again' : 'svc: a watch is silent';
    case 'test':
      return 'svc: test notification';
  }
}
