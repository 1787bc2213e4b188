import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { HandClock } from '../../../../test/support/clock.ts';
import { createSignals } from '../signals.ts';
import { LeaseKeeper } from './lease-keeper.ts';

test('F03: a thread of the lease that does not start within a minute ends the start, and nothing is left', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-lease-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const clock = new HandClock();
  const guard = { ready: () => Promise.resolve(), stop: () => Promise.resolve() };
  const idle = { watch: () => undefined, unwatch: () => undefined, renew: () => undefined };
  const keeper = new LeaseKeeper({
    clock,
    guard: { ...guard, ...idle },
    signals: createSignals(),
    leaseMs: 10_000,
    url: 'postgres://127.0.0.1:1/none',
  });
  keeper.follow('dmn_1', 0, join(dir, 'dmn_1.lease'));
  const started = keeper.start({ onLate: () => undefined, onLost: () => Promise.resolve() });
  clock.advance(60_000);
  await assert.rejects(started, { code: 'unavailable', message: /did not start in 1m\.$/ });
  assert.equal(clock.waiting, 0);
});
