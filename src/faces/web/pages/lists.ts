/** Pages that show what the command line shows, in its words. */
import { html, type Html } from '../../html/html.ts';
import { relative } from '../../text/time.ts';
import { commandOf, copyable } from '../console/elsewhere.ts';
import type { PageRequest } from './page.ts';
import { commandNote, plainPage } from './plain.ts';

export const LIST_PAGES = [
  plainPage({
    path: '/webhooks',
    section: 'Events',
    title: 'Webhooks',
    parts: [
      { operation: 'webhook.list', kind: 'webhook.list' },
      { operation: 'deadman.list', kind: 'deadman.list', heading: 'Watches of webhooks that fall silent' },
    ],
  }),
  plainPage({
    path: '/quiet',
    section: 'Quiet',
    title: 'Quiet',
    parts: [
      {
        operation: 'mute.list',
        kind: 'mute.list',
        heading: 'Mutes: the job runs, without notifications',
        note: commandNote('Add one with:', 'mute.add'),
      },
      { operation: 'mute.list', kind: 'mute.list', show: endedMutes },
      {
        operation: 'silence.list',
        kind: 'silence.list',
        heading: 'Silences: the rule does not run',
        note: commandNote('Add one with:', 'silence.add'),
      },
    ],
  }),
  plainPage({
    path: '/schedules',
    section: 'Schedules',
    title: 'Schedules',
    parts: [
      { operation: 'schedule.list', kind: 'schedule.list' },
      { operation: 'schedule.agenda', kind: 'schedule.agenda', heading: 'The next 7 days' },
    ],
  }),
  plainPage({
    path: '/sources',
    section: 'Workspaces',
    title: 'Sources',
    parts: [{ operation: 'source.list', kind: 'source.list' }],
  }),
  plainPage({
    path: '/inventories',
    section: 'Workspaces',
    title: 'Inventories',
    parts: [{ operation: 'inventory.list', kind: 'inventory.list', named: { NAME: '/inventories/' } }],
  }),
  plainPage({
    path: '/inventories/:name',
    section: 'Workspaces',
    title: 'Inventory',
    heading: ({ name }) => `Inventory ${name}`,
    parts: [{ operation: 'inventory.get', kind: 'inventory.get' }],
  }),
  plainPage({
    path: '/secrets',
    section: 'Secrets',
    title: 'Secrets',
    parts: [
      {
        operation: 'secret.list',
        kind: 'secret.list',
        note: commandNote('Values cannot be shown here: no field has them. Set one with:', 'secret.set'),
      },
      { operation: 'seal.status', kind: 'seal.status', heading: 'The seal' },
    ],
  }),
  plainPage({
    path: '/backups',
    section: 'Backups',
    title: 'Backups',
    parts: [
      { operation: 'backup.list', kind: 'backup.list', note: commandNote('Make one now with:', 'backup.create') },
    ],
  }),
  plainPage({ path: '/health', section: 'System', title: 'Health', parts: [{ operation: 'doctor', kind: 'doctor' }] }),
  plainPage({
    path: '/tokens',
    section: 'System',
    title: 'Tokens',
    parts: [
      {
        operation: 'token.list',
        kind: 'token.list',
        note: commandNote('A browser makes no credential. Create one with:', 'token.create'),
      },
    ],
  }),
  plainPage({
    path: '/audit',
    section: 'System',
    title: 'Audit',
    parts: [{ operation: 'audit.list', kind: 'audit.list' }],
  }),
];

const ENDED_SHOWN_MS = 7 * 86_400_000;
/** How long a mute is that is made again: the person changes it where that is wrong. */
const AGAIN_FOR = '2h';

/** Mutes that ended in the last week, each with the command that makes it again: a session makes none. */
async function endedMutes({ ask, display: { nowMs } }: PageRequest): Promise<Html> {
  const all = await ask('mute.list', 'mute.list', { all: true });
  const ended = all.filter(({ expires_at: at }) => Date.parse(at) <= nowMs && Date.parse(at) > nowMs - ENDED_SHOWN_MS);
  if (ended.length === 0) return html``;
  const rows = ended.map(({ scope_kind, scope_value, reason, expires_at: at }) => {
    const given = Object.entries({ scope_kind, scope_value, for: AGAIN_FOR, reason }).filter(
      ([, text]) => text !== null,
    );
    return html`<li>${relative(at, nowMs)}: ${copyable(commandOf('mute.add', Object.fromEntries(given)))}</li>\n`;
  });
  return html`<h3>Ended in the last 7 days, and how to make it again</h3>\n<ul>\n${rows}</ul>\n`;
}
