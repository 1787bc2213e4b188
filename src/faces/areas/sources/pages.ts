import type { AreaPages } from '../../console/area-pages.ts';
import { plainPage } from '../../console/plain.ts';

const LIST = plainPage({
  path: '/sources',
  section: 'Workspaces',
  title: 'Sources',
  parts: [{ operation: 'source.list', kind: 'source.list' }],
});

export const SOURCES: AreaPages = { pages: [LIST] };
