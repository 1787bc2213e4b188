import type { AreaPages } from '../../console/area-pages.ts';
import { commandNote, plainPage } from '../../console/plain.ts';

const TOKENS = plainPage({
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
});

export const ACCESS: AreaPages = { pages: [TOKENS] };
