import type { StoreArea } from '../area.ts';

export const PLAYBOOKS: StoreArea = {
  belongsToJob: [{ table: 'playbook_hosts', partsBy: 'first' }, { table: 'playbook_runs' }],
};
