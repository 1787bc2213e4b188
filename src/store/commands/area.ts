import type { StoreArea } from '../area.ts';

export const COMMANDS: StoreArea = { belongsToJob: [{ table: 'host_results', partsBy: 'host' }] };
