import type { AreaPages } from '../../console/area-pages.ts';
import { commandNote, plainPage } from '../../console/plain.ts';

const LIST = plainPage({
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
});

export const SECRETS: AreaPages = { pages: [LIST] };
