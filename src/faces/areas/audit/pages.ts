import type { AreaPages } from '../../console/area-pages.ts';
import { plainPage } from '../../console/plain.ts';

const LIST = plainPage({
  path: '/audit',
  section: 'System',
  title: 'Audit',
  parts: [{ operation: 'audit.list', kind: 'audit.list' }],
});

export const AUDIT: AreaPages = { pages: [LIST] };
