import type { AreaPages } from '../../console/area-pages.ts';
import { plainAddition } from '../../console/plain.ts';

/** On the page of the webhooks that it watches. */
const WATCHES = plainAddition('/webhooks', {
  operation: 'deadman.list',
  kind: 'deadman.list',
  heading: 'Watches of webhooks that fall silent',
});

export const DEADMAN: AreaPages = { additions: [WATCHES] };
