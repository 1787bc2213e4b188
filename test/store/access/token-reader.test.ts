import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { currentHolder, inNameOf } from '../../../src/lib/flow/in-name-of.ts';
import { createTokenReader } from '../../../src/operations/access/token-reader.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

for (const engine of ENGINES)
  suite(`Tokens that requests look up together on ${engine.name}`, () => {
    const its = freshStore(engine);
    test('T87: are read in the name of none of the requests', async () => {
      const { store } = its;
      const names: (string | undefined)[] = [];
      const noting: KyselyPlugin = {
        transformQuery({ node }) {
          names.push(currentHolder()?.holder);
          return node;
        },
        transformResult: ({ result }) => Promise.resolve(result),
      };
      // As on PostgreSQL, where there is no counter of commits.
      const shared = Object.create(store, {
        version: { value: () => null },
        db: { value: store.db.withPlugin(noting) },
      }) as Store;
      const read = createTokenReader(shared);
      const rows = await Promise.all(
        ['ana', 'bo'].map((holder) => inNameOf({ holder, next: () => Promise.resolve() }, () => read(`tok_${holder}`))),
      );
      assert.deepEqual([rows, names], [[undefined, undefined], [undefined]]);
    });
  });
