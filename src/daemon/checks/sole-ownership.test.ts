import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SHARDS } from '../../domain/checks/sweep/slots.ts';
import { HandClock } from '../../../test/support/clock.ts';
import { temporaryDirectory } from '../../../test/store/engine-fixture.ts';
import { soleOwnership } from './sole-ownership.ts';

test('One daemon of a machine probes all targets, and the next one when it leaves', async () => {
  const directory = temporaryDirectory();
  const clock = new HandClock();
  const [one, two] = [soleOwnership(clock, directory.path), soleOwnership(clock, directory.path)];
  assert.equal(one.shards().size, 0);
  for (const each of [one, two, one, two]) await each.renew();
  assert.deepEqual([one.shards().size, two.shards().size], [SHARDS, 0]);
  clock.advance(60_000);
  assert.equal(clock.monotonic() + one.ahead(), one.now());
  await one.release();
  await two.renew();
  assert.deepEqual([one.shards().size, two.shards().size], [0, SHARDS]);
  await two.release();
  directory.remove();
});
