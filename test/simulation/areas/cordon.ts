import { call } from '../plan/make.ts';
import type { SimulatedArea } from './area.ts';

export const CORDON: SimulatedArea = {
  makers: [
    [1, () => call('local', 'maintenance.cordon', {})],
    [1, () => call('local', 'maintenance.uncordon', {})],
  ],
};
