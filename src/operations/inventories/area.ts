import type { OperationArea } from '../area.ts';

export const INVENTORIES: OperationArea = {
  nouns: {
    inventory: { summary: 'Manage the hosts that commands and playbooks reach', place: 260, help: ['hosts', 0] },
  },
  load: async () => (await import('./inventories.ts')).INVENTORY_OPERATIONS,
  audited: {
    'inventory.add': ['hosts', 'groups', 'replace', 'approve_runs', 'except_check'],
    'inventory.update': ['approve_runs', 'except_check'],
    'inventory.trust': ['hosts', 'fingerprints'],
    'inventory.untrust': ['keys'],
  },
  sections: { inventories: { place: 30, load: async () => (await import('./configuration.ts')).inventoriesSection } },
};
