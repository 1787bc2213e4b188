/** The pages of decision links: each is one answer of at most 6 KB, without scripts and further requests. */
import type { Decision } from '../../domain/approvals/approval.ts';
import { timeLeft } from '../../domain/duration.ts';
import { BECAUSE_MAX } from '../../domain/jobs/job.ts';
import { KINDS } from '../../domain/kinds.ts';
import type { Asked, DecisionPage, Destroyed, PlanFacts } from '../../operations/approvals/decision-page.ts';
import { inline } from '../text/safe.ts';
import type { HeaderList } from '../http/headers.ts';
import { html, type Html } from '../html/html.ts';
import { PAGE_HEADERS, shell } from '../html/shell.ts';
import { clockTime } from '../text/time.ts';

/** Destroyed addresses that the page lists; the others are only counted. */
const DESTROYED_SHOWN_MAX = 20;
/** Bytes of their markup: with everything else at its longest the page stays below 6 KB. */
const DESTROYED_BYTES_MAX = 2_050;
/** Letters of one address, and of any other name. Longer ones are cut in the middle, visibly. */
const ADDRESS_MAX = 120;
const NAME_MAX = 64;
/** Letters of a reason that the page shows; the command line shows all of it. */
const REASON_SHOWN_MAX = 200;
const SUMMARY_SHOWN_MAX = 240;

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

/** The whole page. `host` is the name of this machine; null if it has none. */
export function decisionHtml(page: DecisionPage, host: string | null): string {
  switch (page.show) {
    case 'unknown':
      return shell(
        'This link does not work',
        html`<p>It is incomplete, or a newer link replaced it. Nothing was decided.</p>`,
      );
    case 'question':
      return shell(`${whatOf(page.asked)}?`, question(page.asked, page.plan, page.proof), onHost(host));
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

const UNSEEN = html`<p>The plan cannot be opened, so it cannot be approved from here. The doctor says why.</p>`;

function question(asked: Asked, plan: PlanFacts | null, proof: string): Html {
  const left = timeLeft(asked.expiresAt - asked.now);
  const by = clockTime(asked.expiresAt, asked.now, 'minutes');
  const asker = shown(asked.requestedBy, NAME_MAX);
  const answer = mayAnswer(asked, plan) ? form(asked, plan, proof) : UNSEEN;
  const what = plan === null ? html`<p>${shown(asked.summary, SUMMARY_SHOWN_MAX)}</p>\n` : planned(plan);
  return html`${what}<p>Asked by ${asker}${origin(asked)}${why(asked)}.</p>
<p>If no one decides by ${by} (${left}), it is refused.</p>
${answer}`;
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
function mayAnswer({ decision }: Asked, plan: PlanFacts | null): boolean {
  return decision === 'reject' || plan === null || plan.destroyed !== null;
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

/** Without an action the form is sent to the URL of the page, so that no page contains the token. */
function form(asked: Asked, plan: PlanFacts | null, proof: string): Html {
  const destroys = plan?.destroys ?? 0;
  const { destroysAll, words } = KINDS[asked.kind];
  const isYes = asked.decision === 'approve';
  const does = !isYes
    ? `Reject ${words.short}`
    : destroys > 0
      ? `Approve, destroying ${destroys}`
      : `Approve ${words.short}`;
  const look = !isYes ? 'no' : destroys > 0 || destroysAll ? 'danger' : 'yes';
  return html`<form method="post"><input type="hidden" name="seen" value="${proof}">
<label for="reason">Reason <small>(optional)</small></label>
<textarea id="reason" name="reason" rows="2" maxlength="1000"></textarea>
<button class="${look}">${does}</button>
</form>`;
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
