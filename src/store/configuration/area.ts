import type { StoreArea } from '../area.ts';

export const CONFIGURATION: StoreArea = { belongsToJob: [{ table: 'config_orders' }] };
