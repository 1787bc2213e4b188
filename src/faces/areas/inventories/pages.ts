import type { AreaPages } from '../../console/area-pages.ts';
import { plainPage } from '../../console/plain.ts';

const LIST = plainPage({
  path: '/inventories',
  section: 'Workspaces',
  title: 'Inventories',
  parts: [{ operation: 'inventory.list', kind: 'inventory.list', named: { NAME: '/inventories/' } }],
});

const INVENTORY = plainPage({
  path: '/inventories/:name',
  section: 'Workspaces',
  title: 'Inventory',
  heading: ({ name }) => `Inventory ${name}`,
  parts: [{ operation: 'inventory.get', kind: 'inventory.get' }],
});

export const INVENTORIES: AreaPages = { pages: [LIST, INVENTORY] };
