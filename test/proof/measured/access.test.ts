/** What the time of a refusal tells. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatToken, newSecret } from '../../../src/domain/access/token.ts';
import { newId } from '../../../src/lib/id.ts';
import { startProgram } from '../../support/program.ts';

function median(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[list.length / 2] ?? Number.NaN;
}

test('T05: Whether an id is known does not show in the time that a refusal takes', async (t) => {
  const program = await startProgram(t);
  const known = program.tokens.operator.slice(0, -43);
  const time = async (token: string): Promise<number> => {
    const begun = performance.now();
    await program.authenticator
      .authenticate({ authorization: [`Bearer ${token}`], cookie: undefined }, 'api')
      .catch(() => undefined);
    return performance.now() - begun;
  };
  const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] };
  for (let i = 0; i < 4_000; i += 1) {
    times.known.push(await time(known + newSecret()));
    times.unknown.push(await time(formatToken(newId('tok', Date.now()), newSecret())));
  }
  const differenceUs = Math.abs(median(times.known) - median(times.unknown)) * 1_000;
  // The goal is 5 us on an idle machine; the test leaves room for a busy one.
  assert.ok(differenceUs < 15, `the medians differ by ${differenceUs.toFixed(1)} us`);
});
