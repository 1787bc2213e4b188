import { insertWatch } from '../../../src/store/deadman/watches.ts';
import { insertWebhook } from '../../../src/store/events/webhooks.ts';
import type { StoredCase } from '../clock/stored-case.ts';

const webhook = { name: 'dog', source: 'generic', hash: 'h', created_at: 1, last_heard_at: null } as const;
const watch = { name: 'alive', webhook: 'dog', every_ms: 3_600_000, added_by: 'ana' } as const;

export const DEADMAN_TIMES: Readonly<Record<string, StoredCase>> = {
  'beginnings of watches': {
    put: (store) =>
      store.write(async (tx) => {
        await insertWebhook(tx, webhook);
        await insertWatch(tx, watch);
      }),
    table: 'deadmen',
    becomes: { created_at: 0 },
  },
  'reported silences of watches': {
    put: (store, now) =>
      store.write(async (tx) => {
        await insertWebhook(tx, webhook);
        await insertWatch(tx, watch);
        await tx.db.updateTable('deadmen').set({ tripped_at: now }).execute();
      }),
    table: 'deadmen',
    becomes: { tripped_at: 0 },
  },
};
