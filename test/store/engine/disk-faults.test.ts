import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { ENGINES, freshStore } from '../engine-fixture.ts';

/** Errors of its disk, as PostgreSQL reports them: no test can break the disk of a server. */
const FAULTS = [
  ['53100', /^The disk of the store is full: nothing was written\.$/],
  ['58030', /^The store cannot be reached: nothing is known to be written\.$/],
] as const;

for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe(`A disk that fails, on ${engine.name}`, () => {
    const its = freshStore(engine);

    for (const [code, message] of FAULTS) {
      test(`a write that is refused with ${code} is unavailable, and the next one succeeds`, async () => {
        const refused = its.store.write(async (tx) => {
          await sql.raw(`do $$ begin raise exception 'the disk' using errcode = '${code}'; end $$`).execute(tx.db);
        });
        await assert.rejects(refused, { code: 'unavailable', message });
        assert.equal(await its.store.write(() => Promise.resolve(1)), 1);
      });
    }
  });
}
