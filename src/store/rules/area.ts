import { sql } from 'kysely';
import type { StoreArea } from '../area.ts';
import { begins } from '../stored-times.ts';

const lasting = { open: sql<boolean>`ended_at is null`, from: 'created_at', ends: ['expires_at'] };

export const RULES: StoreArea = {
  outlives: ['rule_fires.job_id'],
  times: [
    { name: 'mutes', by: 'store', correct: begins('mutes', lasting) },
    // One that was cut with its rule ends where it began: so it is over at once.
    { name: 'silences', by: 'store', correct: begins('silences', lasting) },
  ],
};
