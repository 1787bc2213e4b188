/** Pages that show what the command line shows, in its words. */
import { commandNote, plainPage } from '../../console/plain.ts';

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
