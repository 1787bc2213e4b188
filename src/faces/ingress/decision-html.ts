/** The pages of decision links: each is one answer of at most 16 KB, without scripts and further requests. */
import type { Decision } from '../../domain/approvals/approval.ts';
import { timeLeft } from '../../domain/duration.ts';
import { BECAUSE_MAX } from '../../domain/jobs/job.ts';
import { orderEntries } from '../../domain/jobs/order-words.ts';
import { KINDS } from '../../domain/kinds.ts';
import type { Asked, DecisionPage, Question } from '../../operations/approvals/decision-page.ts';
import type { Destroyed, PlanFacts } from '../../operations/approvals/decision-subject.ts';
import { inline } from '../text/safe.ts';
import type { HeaderList } from '../http/headers.ts';
import { html, type Html } from '../html/html.ts';
import { PAGE_HEADERS, shell } from '../html/shell.ts';
import { clockTime, timeHere } from '../text/time.ts';

/** Destroyed addresses that the page lists; the others are only counted. */
const DESTROYED_SHOWN_MAX = 20;
/** Bytes of their markup: with everything else at its longest the page stays below 16 KB. */
const DESTROYED_BYTES_MAX = 2_050;
/** Letters of one address, and of any other name. Longer ones are cut in the middle, visibly. */
const ADDRESS_MAX = 120;
const NAME_MAX = 64;
/** Letters of a reason that the page shows; the command line shows all of it. */
const REASON_SHOWN_MAX = 200;
const SUMMARY_SHOWN_MAX = 240;
/** Letters of what runs, and of each other line of an order; the command line and the console show more. */
const RUNS_SHOWN_MAX = 180;
const ORDER_SHOWN_MAX = 100;

/** Also no referrer, since the URL of the page is the capability, and no indexing by search engines. */
export const DECISION_HEADERS: HeaderList = [
  ...PAGE_HEADERS.with(PAGE_HEADERS.indexOf('Referrer-Policy') + 1, 'no-referrer'),
  'X-Robots-Tag',
  'noindex',
];

const VIA: Readonly<Record<string, string>> = {
  link: 'with a decision link',
  cli: 'on the command line',
  api: 'over the API',
  web: 'in the console',
};

const DONE = { approve: 'approved', reject: 'rejected' } as const satisfies Record<Decision, string>;

/** Where a page is shown. */
export interface PagePlace {
  /** The name of this machine; null if it has none. */
  readonly host: string | null;
  /** The zone of the readers, beside UTC. */
  readonly timeZone: string;
  /** With the base path; null where it is not known. */
  readonly consoleUrl: string | null;
}

/** The whole page. */
export function decisionHtml(page: DecisionPage, place: PagePlace): string {
  const { host } = place;
  switch (page.show) {
    case 'unknown':
      return shell(
        'This link does not work',
        html`<p>It is incomplete, or a newer link replaced it. Nothing was decided.</p>`,
      );
    case 'question':
      return shell(`${whatOf(page.asked)}?`, question(page, place), onHost(host));
    case 'outcome':
      return shell(outcomeTitle(page), outcome(page), onHost(host, page.asked));
    case 'expired':
      return shell(
        `Expired at ${clockTime(page.asked.expiresAt, page.asked.now)}`,
        html`<p>No one decided in time, so the request was refused. Nothing runs.</p>`,
        onHost(host, page.asked),
      );
    case 'stale':
      return shell('This plan is out of date', stale(page.asked, page.serial), onHost(host, page.asked));
    case 'changed':
      return shell(
        'This request was changed',
        html`<p>${shown(page.why, REASON_SHOWN_MAX)} Nothing was decided.</p>
<p>It can only be rejected. The doctor (<code>svc doctor</code>) says more.</p>`,
        onHost(host),
      );
    case 'own':
      return shell(
        'Another person must decide',
        html`<p>You asked for this, or for what led to it, so you can neither approve nor reject it. \
Nothing was decided.</p>`,
        onHost(host, page.asked),
      );
    case 'lapsed':
      return shell(
        'This link is no longer valid',
        html`<p>${LAPSED[page.why](shown(page.recipient, NAME_MAX))} Nothing was decided.</p>`,
        onHost(host, page.asked),
      );
  }
}

/** Why a link decides nothing, for the person who opened it. */
const LAPSED = {
  owner: (recipient) => `${recipient} has no active token that may approve.`,
  strict: (recipient) => `The gate is strict: links of the notification target ${recipient} do not decide.`,
  target: (recipient) => `The notification target ${recipient} is no longer configured.`,
} as const satisfies Record<Extract<DecisionPage, { show: 'lapsed' }>['why'], (recipient: string) => string>;

/** For a request that was refused or failed; `message` is for people and holds no secret. */
export function failureHtml(message: string): string {
  return shell(
    'The request failed',
    html`<p>${shown(message, REASON_SHOWN_MAX)}</p>\n<p>Open the link again to see the current state.</p>`,
  );
}

/** The host and, on pages whose heading does not name it, the subject. */
function onHost(host: string | null, asked?: Asked): Html {
  const what = asked === undefined ? '' : ` · ${whatOf(asked)}`;
  return html`<p class="on">svc${host === null ? '' : ` on ${shown(host, NAME_MAX)}`}${what}</p>\n`;
}

function whatOf({ kind, workspace, runbook, planned }: Asked): string {
  const { words } = KINDS[kind];
  if (workspace !== null) return words.title(shown(workspace, NAME_MAX), planned);
  const name = shown(runbook.slice(runbook.indexOf(':') + 1), NAME_MAX);
  return runbook.startsWith('rule:') ? `Do the ${words.short} of rule ${name}` : words.title(name, planned);
}

const LONGER = html`<p>This is approved in the console, which shows all of it.</p>\n`;
const UNSEEN = html`<p>The plan cannot be opened, so it cannot be approved from here. The doctor says why.</p>\n`;

/** In the order in which a person decides: what and where, because of what, who and why, and what if no one answers. */
function question(page: Question, { timeZone, consoleUrl }: PagePlace): Html {
  const { asked, plan, order } = page;
  const left = timeLeft(asked.expiresAt - asked.now);
  const by = timeHere(asked.expiresAt, asked.now, timeZone);
  const asker = shown(asked.requestedBy, NAME_MAX);
  const unseen = mayAnswer(asked, plan) ? html`` : plan === null ? LONGER : UNSEEN;
  const what = plan === null ? html`` : planned(plan);
  // The order says more, and what of it are the words of its author.
  const summary =
    plan !== null || (order !== null && typeof order !== 'string')
      ? html``
      : html`<p>${shown(asked.summary, SUMMARY_SHOWN_MAX)}</p>\n`;
  const see =
    consoleUrl === null
      ? html``
      : html`<p class="on"><a href="${consoleUrl}/approvals/${page.approvalId}">See all of it in the console</a></p>\n`;
  return html`${what}${summary}${ordered(order)}<p>Asked by ${asker}${origin(asked)}${why(asked)}.</p>
<p>If no one decides by ${by}, ${left}, it is refused.</p>
${unseen}${form(page)}${see}`;
}

/** The lines of an order, each cut. */
function ordered(order: Question['order']): Html {
  if (order === null) return html``;
  if (typeof order === 'string') return html`<p>The order cannot be shown: ${shown(order, REASON_SHOWN_MAX)}</p>\n`;
  const lines = orderEntries(order).map(([name, text], at) =>
    text === null
      ? html``
      : html`<dt>${name}</dt>
<dd>${shown(text, at === 0 ? RUNS_SHOWN_MAX : ORDER_SHOWN_MAX)}</dd>\n`,
  );
  return html`<dl>\n${lines}</dl>\n`;
}

function why({ because }: Asked): string {
  return because === null ? '' : `: ${shown(because, BECAUSE_MAX)}`;
}

function origin({ origin, rule, schedule }: Asked): string {
  const ofRule = rule === null ? '' : ` (rule ${shown(rule, NAME_MAX)})`;
  return {
    manual: '',
    schedule: schedule === null ? ', on a schedule' : `, on the schedule ${shown(schedule, NAME_MAX)}`,
    alert: `, because of an alert${ofRule}`,
  }[origin];
}

/** The approver must see what is destroyed. */
function mayAnswer({ decision, kind }: Asked, plan: PlanFacts | null): boolean {
  if (decision === 'reject') return true;
  return KINDS[kind].needsConsole !== true && (plan === null || plan.destroyed !== null);
}

function planned({ destroys, counts, destroyed }: PlanFacts): Html {
  const list = destroys === 0 || destroyed === null ? html`` : destroyedList(destroyed);
  const panel =
    destroys === 0 ? html`` : html`<section>\n<h2>Destroys or replaces ${destroys}</h2>\n${list}</section>\n`;
  return html`${panel}<p>Plan: ${counts}.</p>\n`;
}

function destroyedList(all: readonly Destroyed[]): Html {
  const items: Html[] = [];
  let room = DESTROYED_BYTES_MAX;
  for (const { address, action } of all.slice(0, DESTROYED_SHOWN_MAX)) {
    const [sign, note] = action === 'replace' ? ['−/+', ' (replaced)'] : ['−', ''];
    const item = html`<li><b>${sign}</b> ${shown(address, ADDRESS_MAX)}${note}</li>\n`;
    room -= Buffer.byteLength(item.text);
    if (room < 0) break;
    items.push(item);
  }
  const more = all.length - items.length;
  return html`<ul>\n${items}${more === 0 ? html`` : html`<li><b></b> and ${more} more</li>\n`}</ul>\n`;
}

/**
 * Without an action the form is sent to the URL of the page, so that no page has its own token. The other button sends
 * to the link of the other decision.
 */
function form({ asked, plan, proof, reject }: Question): Html {
  const destroys = plan?.destroys ?? 0;
  const { destroysAll, words } = KINDS[asked.kind];
  const isYes = asked.decision === 'approve';
  const no = `Reject ${words.short}`;
  const does = !isYes ? no : destroys > 0 ? `Approve, destroying ${destroys}` : `Approve ${words.short}`;
  const look = !isYes ? 'no' : destroys > 0 || destroysAll ? 'danger' : 'yes';
  const own = html`<button class="${look}" name="seen" value="${proof}">${does}</button>\n`;
  const buttons = [...(mayAnswer(asked, plan) ? [own] : []), ...(reject === null ? [] : [rejectButton(reject, no)])];
  if (buttons.length === 0) return html``;
  return html`<form method="post">
<label for="reason">Reason <small>(optional)</small></label>
<textarea id="reason" name="reason" rows="2" maxlength="1000"></textarea>
${buttons}</form>\n`;
}

function rejectButton({ token, proof }: NonNullable<Question['reject']>, label: string): Html {
  return html`<button class="no" name="seen" value="${proof}" formaction="reject?token=${token}">${label}</button>\n`;
}

type Outcome = Extract<DecisionPage, { show: 'outcome' }>;

function outcomeTitle({ fresh, state, at, by, asked }: Outcome): string {
  const time = clockTime(at, asked.now);
  if (!fresh) return `Already ${state} at ${time} by ${shown(by, NAME_MAX)}`;
  return state === 'approved' ? `✓ Approved at ${time}` : `Rejected at ${time}`;
}

function outcome({ fresh, state, via, reason, asked }: Outcome): Html {
  const become = state === 'approved' ? 'queued' : 'cancelled: nothing runs';
  const job = html`<p>Job ${shown(asked.jobId, NAME_MAX)} is ${become}.</p>\n`;
  const was = html`<p>It was ${state} ${VIA[via] ?? `by ${shown(via, NAME_MAX)}`}. Nothing more was done.</p>\n`;
  const why = reason === null ? html`` : html`<p>Reason: ${shown(reason, REASON_SHOWN_MAX)}</p>\n`;
  return html`${fresh ? job : was}${why}<p>You can close this page.</p>`;
}

function stale({ decision }: Asked, serial: number | null): Html {
  const moved =
    serial === null
      ? 'The plan is no longer the one of this request.'
      : `The state moved to serial ${serial} after the plan was made.`;
  return html`<p>${moved} Nothing was ${DONE[decision]}. Someone must plan again.</p>`;
}

/**
 * Foreign text on one line: nothing in it is invisible or reverses letters, and a long text is cut in the
 * middle.
 */
function shown(text: string, max: number): string {
  const letters = Array.from(inline(text));
  if (letters.length <= max) return letters.join('');
  const tail = Math.floor(max / 3);
  return `${letters.slice(0, max - tail - 1).join('')}…${letters.slice(-tail).join('')}`;
}
