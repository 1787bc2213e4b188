/** Mutes and silences, and what a mute would hold: a session makes none, so pages show the finished command. */
import { html, type Html } from '../../html/html.ts';
import { relative } from '../../text/time.ts';
import { commandOf, copyable } from '../../console/elsewhere.ts';
import type { Page, PageRequest } from '../../console/page.ts';
import { commandNote, plainPage } from '../../console/plain.ts';

const PREVIEW_PATH = '/quiet/mute';

const QUIET = plainPage({
  path: '/quiet',
  section: 'Quiet',
  title: 'Quiet',
  parts: [
    {
      operation: 'mute.list',
      kind: 'mute.list',
      heading: 'Mutes: the job runs, without notifications',
      note: ({ url }) =>
        html`<p><a href="${url(PREVIEW_PATH)}">Add a mute: see first what it would have held</a></p>\n`,
    },
    { operation: 'mute.list', kind: 'mute.list', show: endedMutes },
    {
      operation: 'silence.list',
      kind: 'silence.list',
      heading: 'Silences: the rule does not run',
      note: commandNote('Add one with:', 'silence.add'),
    },
  ],
});

const FORM = plainPage({
  path: PREVIEW_PATH,
  section: 'Quiet',
  title: 'New mute',
  submits: 'Preview',
  parts: [{ operation: 'mute.preview', kind: 'mute.preview', show: preview }],
});

/** Counted when it is asked for, and not again and again while the page is open. */
const PREVIEW: Page = {
  ...FORM,
  async show(request) {
    const shown = await FORM.show(request);
    return { ...shown, isStill: true, ...(isEmpty(request) ? { elsewhere: EXAMPLE } : {}) };
  },
};

const EXAMPLE = commandOf('mute.preview', { scope_kind: 'alert', scope_value: 'DiskFull' });

const ENDED_SHOWN_MS = 7 * 86_400_000;
/** How long a mute is that is made again: the person changes it where that is wrong. */
const AGAIN_FOR = '2h';

/** Mutes that ended in the last week, each with the command that makes it again. */
async function endedMutes({ ask, display: { nowMs }, url }: PageRequest): Promise<Html> {
  const all = await ask('mute.list', 'mute.list', { all: true });
  const ended = all.filter(({ expires_at: at }) => Date.parse(at) <= nowMs && Date.parse(at) > nowMs - ENDED_SHOWN_MS);
  if (ended.length === 0) return html``;
  const rows = ended.map(({ scope_kind, scope_value, reason, expires_at: at }) => {
    const given = Object.entries({ scope_kind, scope_value, for: AGAIN_FOR, reason }).flatMap(([name, text]) =>
      text === null ? [] : [[name, text] as const],
    );
    const query = new URLSearchParams(given.map(([name, text]) => [name, text])).toString();
    return html`<li>${relative(at, nowMs)}: ${copyable(commandOf('mute.add', Object.fromEntries(given)))} \
<a href="${url(`${PREVIEW_PATH}?${query}`)}">Change it</a></li>\n`;
  });
  return html`<h3>Ended in the last 7 days, and how to make it again</h3>\n<ul>\n${rows}</ul>\n`;
}

function isEmpty({ query }: PageRequest): boolean {
  return query.size === 0;
}

/** What the mute of the form would have held, and the command that makes it. */
async function preview(request: PageRequest): Promise<Html> {
  const { fields, ask } = request;
  if (isEmpty(request))
    return html`<p class="soft">A mute holds notifications of an alert, of a host, or all. The job runs all the same, \
and requests for approval are sent.</p>\n`;
  const given = fields('mute.preview');
  const data = await ask('mute.preview', 'mute.preview', given);
  const until = 'for' in given || 'expires_at' in given ? {} : { for: AGAIN_FOR };
  return html`${request.view('mute.preview', data)}\
<h2>Make it</h2>
<p>${copyable(commandOf('mute.add', { ...given, ...until }))}</p>\n`;
}

export const QUIET_PAGES = [QUIET, PREVIEW];
