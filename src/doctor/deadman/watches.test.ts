import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ENGINES, freshStore } from '../../../test/store/engine-fixture.ts';
import { insertWatch, listWatches, tripWatch } from '../../store/deadman/watches.ts';
import { insertWebhook } from '../../store/events/webhooks.ts';
import type { Facts } from '../entry.ts';
import { examineWatches } from './watches.ts';

for (const engine of ENGINES) {
  describe(`On ${engine.name}`, () => {
    const its = freshStore(engine);

    test('watches warns of those that hear nothing', async () => {
      const { store } = its;
      const demand = async (status: string, detail: string): Promise<void> =>
        assert.deepEqual(await examineWatches({ openedStore: () => store } as Partial<Facts> as Facts), {
          status,
          detail,
        });
      await demand('ok', 'Dead-man watches: 0, none silent.');
      await store.write(async (tx) => {
        for (const name of ['dog', 'cat']) {
          await insertWebhook(tx, { name, source: 'generic', hash: name, created_at: tx.now, last_heard_at: null });
          await insertWatch(tx, { name: `${name}-alive`, webhook: name, every_ms: 60_000, added_by: 'ana' });
        }
      });
      await demand('ok', 'Dead-man watches: 2, none silent.');
      const [cat, dog] = await listWatches(store.db);
      await store.write((tx) => tripWatch(tx, cat!, tx.now));
      await demand('warn', 'cat-alive receives nothing from the webhook cat.');
      await store.write((tx) => tripWatch(tx, dog!, tx.now));
      await demand(
        'warn',
        'cat-alive receives nothing from the webhook cat; dog-alive receives nothing from the webhook dog.',
      );
    });
  });
}
