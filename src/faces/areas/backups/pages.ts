import type { AreaPages } from '../../console/area-pages.ts';
import { commandNote, plainPage } from '../../console/plain.ts';

const LIST = plainPage({
  path: '/backups',
  section: 'Backups',
  title: 'Backups',
  parts: [{ operation: 'backup.list', kind: 'backup.list', note: commandNote('Make one now with:', 'backup.create') }],
});

export const BACKUPS: AreaPages = { pages: [LIST] };
