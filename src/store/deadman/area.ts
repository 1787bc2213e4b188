import type { StoreArea } from '../area.ts';
import { begins, EVERY_ROW } from '../stored-times.ts';
import { watchesOf } from './watches.ts';

export const DEADMAN: StoreArea = {
  /** A watch without its webhook would be blind. */
  async needs(tx, table, name) {
    const [watch] = table === 'webhooks' ? await watchesOf(tx, name) : [];
    return watch === undefined
      ? null
      : `The watch ${watch} listens to the webhook ${name}: svc deadman remove ${watch} first.`;
  },
  times: [
    { name: 'beginnings of watches', by: 'store', correct: begins('deadmen', { open: EVERY_ROW, from: 'created_at' }) },
    {
      name: 'reported silences of watches',
      by: 'store',
      correct: begins('deadmen', { open: EVERY_ROW, from: 'tripped_at' }),
    },
  ],
};
