import type { AreaPages } from '../../console/area-pages.ts';
import { plainPage } from '../../console/plain.ts';

const HEALTH = plainPage({
  path: '/health',
  section: 'System',
  title: 'Health',
  parts: [{ operation: 'doctor', kind: 'doctor' }],
});

export const SERVICE: AreaPages = { pages: [HEALTH] };
