/**
 * Half a minute of `npm run fuzz`, over all targets, each time with the same values in the same order: a faster machine
 * gets further.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FUZZ_TARGETS } from '../night/fuzz/targets.ts';

const SECONDS = 30;
/**
 * Other seeds are for `npm run fuzz`: a test that finds something new by chance stops people who did not cause it.
 */
const SEED = 20_261_122;
const EACH_MS = (SECONDS * 1_000) / FUZZ_TARGETS.length;

for (const target of FUZZ_TARGETS) {
  test(`T64: the fuzz of ${target.name} finds nothing with the seed ${SEED}`, async (t) => {
    t.after(() => target.close?.());
    const { runs, failure } = await target.run(SEED, EACH_MS);
    t.diagnostic(`${runs} values`);
    if (failure !== null)
      assert.fail(`npm run fuzz -- --target ${target.name} --seed ${failure.seed}\n${failure.value}\n${failure.error}`);
  });
}

test('The targets of the fuzz have different names', () => {
  assert.equal(new Set(FUZZ_TARGETS.map(({ name }) => name)).size, FUZZ_TARGETS.length);
});
