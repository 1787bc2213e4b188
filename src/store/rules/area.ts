import type { StoreArea } from '../area.ts';

export const RULES: StoreArea = { outlives: ['rule_fires.job_id'] };
