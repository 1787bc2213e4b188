import type { ApprovalState } from './approval.ts';
import { formatDuration } from './duration.ts';
import type { JobKind, JobState } from './job.ts';

/** What people are told of, and in which words. A page never holds a value that an operator gave: names, states and counts only. */

export const PAGE_KINDS = ['approval', 'approvals', 'reminder', 'decided', 'job', 'rule', 'deadman', 'test'] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

/** How much of it a lock screen shows. Only `full` has buttons. */
export const PUSH_DETAILS = ['full', 'summary', 'terse'] as const;
export type PushDetail = (typeof PUSH_DETAILS)[number];

/** What is asked. */
export interface AskedFacts {
  readonly approvalId: string;
  readonly jobId: string;
  readonly jobKind: JobKind;
  readonly runbook: string;
  readonly workspace: string | null;
  readonly requestedBy: string;
  readonly rule: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Of the saved plan; null where there is none. */
  readonly plan: { readonly destroys: number; readonly changes: number; readonly creates: number } | null;
}

export type PageFacts =
  | ({ readonly kind: 'approval' | 'reminder' } & AskedFacts)
  | ({ readonly kind: 'decided'; readonly state: Exclude<ApprovalState, 'pending'>; readonly by: string | null; readonly via: string | null } & AskedFacts)
  /** More came at once than a person would read one by one. */
  | { readonly kind: 'approvals'; readonly count: number }
  | { readonly kind: 'job'; readonly jobId: string; readonly runbook: string; readonly state: JobState; readonly exitCode: number | null }
  | { readonly kind: 'rule'; readonly rule: string; readonly eventId: string; readonly event: string; readonly message: string | null }
  | { readonly kind: 'deadman'; readonly name: string; readonly webhook: string; readonly everyMs: number; readonly heard: boolean }
  | { readonly kind: 'test'; readonly by: string };

/** A button. `http` sends a POST to its URL, `view` opens it. */
export interface PageAction {
  readonly action: 'http' | 'view';
  readonly label: string;
  readonly url: string;
  readonly method?: 'POST';
  /** Takes the notification away once the request has succeeded. */
  readonly clear?: true;
}

/** What is sent, in the form and with the names that ntfy gives it. */
export interface PageMessage {
  /** The same for every try, so that a phone can show a repeat once. */
  readonly id: string;
  readonly title: string;
  readonly message: string;
  /** 1 to 5; 3 is usual. */
  readonly priority: number;
  readonly tags: readonly string[];
  readonly click: string;
  readonly actions: readonly PageAction[];
}

export interface PageContext {
  readonly id: string;
  readonly detail: PushDetail;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Where the pages are, without a slash at the end. */
  readonly baseUrl: string;
  /** The capability URLs of this recipient; null where it gets none. */
  readonly links: { readonly approve: string; readonly reject: string } | null;
}

type Words = Omit<PageMessage, 'id' | 'actions'> & { readonly actions?: readonly PageAction[] };

/** The words and buttons of a page at a rung. */
export function composePage(facts: PageFacts, context: PageContext): PageMessage {
  const words = wordsOf(facts, context);
  const whole = { ...words, id: context.id, actions: context.detail === 'full' ? (words.actions ?? []) : [] };
  if (context.detail !== 'terse') return whole;
  return { ...whole, title: terseTitle(facts), message: 'jobId' in facts ? facts.jobId : '' };
}

function wordsOf(facts: PageFacts, context: PageContext): Words {
  const at = (path: string): string => `${context.baseUrl}${path}`;
  switch (facts.kind) {
    case 'approval':
    case 'reminder':
      return asks(facts, context, at);
    case 'decided':
      return decided(facts, at);
    case 'approvals':
      return { title: `${facts.count} approvals wait`, message: 'More came within a minute than are shown one by one.', priority: 4, tags: ['raised_hand'], click: at('/approvals') };
    case 'job':
      return ended(facts, at);
    case 'rule':
      return { title: facts.message ?? `Rule ${facts.rule} matched`, message: `${facts.event} (rule ${facts.rule}, ${facts.eventId})`, priority: 3, tags: ['bell'], click: at(`/events/${facts.eventId}`) };
    case 'deadman':
      return facts.heard
        ? { title: `${facts.name} is heard again`, message: `Webhook ${facts.webhook} was heard.`, priority: 3, tags: ['white_check_mark'], click: at('/events') }
        : { title: `${facts.name} is silent`, message: `Webhook ${facts.webhook} was not heard for ${formatDuration(facts.everyMs)}.`, priority: 5, tags: ['skull'], click: at('/events') };
    case 'test':
      return { title: 'Test page', message: `Asked for by ${facts.by}. Pages arrive here.`, priority: 3, tags: ['wave'], click: at('/devices') };
  }
}

function asks(facts: AskedFacts & { kind: 'approval' | 'reminder' }, { now, links }: PageContext, at: (path: string) => string): Words {
  const { plan } = facts;
  const left = formatDuration(Math.max(60_000, Math.floor((facts.expiresAt - now) / 60_000) * 60_000));
  const counts = plan === null ? '' : `${plan.changes} changes, ${plan.creates} creates. `;
  const rule = facts.rule === null ? '' : ` (rule ${facts.rule})`;
  const again = facts.kind === 'reminder' ? 'Still waiting: ' : '';
  return {
    title: `${again}${nameOf(facts)}${plan === null ? '' : `: ${plan.destroys} destroys`}`,
    message: `${counts}Asked by ${facts.requestedBy}${rule}, ${left} left. ${facts.jobId}`,
    priority: plan !== null && plan.destroys > 0 ? 5 : 4,
    tags: [plan !== null && plan.destroys > 0 ? 'warning' : 'raised_hand'],
    click: at(`/approvals/${facts.approvalId}`),
    ...(links === null ? {} : { actions: buttons(facts, links, at(`/approvals/${facts.approvalId}`)) }),
  };
}

/** Approving what destroys something needs to have seen it: its button opens the page that lists it. */
function buttons(facts: AskedFacts, links: NonNullable<PageContext['links']>, page: string): PageAction[] {
  const verb = facts.jobKind;
  const sees = facts.plan !== null && facts.plan.destroys > 0;
  return [
    sees ? { action: 'view', label: `Review ${verb}`, url: links.approve } : { action: 'http', label: `Approve ${verb}`, url: links.approve, method: 'POST', clear: true },
    { action: 'http', label: `Reject ${verb}`, url: links.reject, method: 'POST', clear: true },
    { action: 'view', label: facts.plan === null ? 'Open' : 'Plan', url: page },
  ];
}

const OUTCOMES = {
  approved: { word: 'Approved', after: 'The job is queued.', tag: 'white_check_mark' },
  rejected: { word: 'Rejected', after: 'Nothing runs.', tag: 'no_entry_sign' },
  expired: { word: 'Expired', after: 'Nobody decided in time: nothing runs.', tag: 'hourglass' },
} as const;

function decided(facts: Extract<PageFacts, { kind: 'decided' }>, at: (path: string) => string): Words {
  const { word, after, tag } = OUTCOMES[facts.state];
  const by = facts.by === null ? '' : ` by ${facts.by}${facts.via === null ? '' : ` via ${facts.via}`}`;
  return { title: `${word}: ${nameOf(facts)}`, message: `${word}${by}. ${after} ${facts.jobId}`, priority: 2, tags: [tag], click: at(`/approvals/${facts.approvalId}`) };
}

function ended({ jobId, runbook, state, exitCode }: Extract<PageFacts, { kind: 'job' }>, at: (path: string) => string): Words {
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

function nameOf({ jobKind: kind, workspace, runbook, rule }: AskedFacts): string {
  if (workspace !== null) return `${kind} ${workspace}`;
  return rule === null ? runbook : `${kind} of rule ${rule}`;
}

/** Says that something is there, and nothing of what. */
function terseTitle(facts: PageFacts): string {
  switch (facts.kind) {
    case 'approval':
    case 'reminder':
      return 'svc: 1 approval waits';
    case 'approvals':
      return `svc: ${facts.count} approvals wait`;
    case 'decided':
      return `svc: 1 approval ${facts.state}`;
    case 'job':
      return `svc: 1 job ${facts.state}`;
    case 'rule':
      return 'svc: a rule matched';
    case 'deadman':
      return facts.heard ? 'svc: a watch is heard again' : 'svc: a watch is silent';
    case 'test':
      return 'svc: test page';
  }
}
