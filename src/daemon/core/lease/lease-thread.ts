/** A thread that renews the lease of a daemon on PostgreSQL, whatever holds the event loop of the process. */
import { parentPort, workerData } from 'node:worker_threads';
import { pause, systemClock } from '../../../lib/clock.ts';
import type { Followed, LeaseNews, LeaseOrder } from './lease-order.ts';
import { HELD_ENDED_MS, HeldLoop } from './held-loop.ts';
import { Renewals } from './renewals.ts';
import { renewEveryMs, turnsOf } from './trust.ts';

const order = workerData as LeaseOrder;
const renewals = new Renewals(order, systemClock, (news: LeaseNews) => parentPort?.postMessage(news));
const everyMs = renewEveryMs(order.leaseMs);
const held = new HeldLoop({ turns: turnsOf(order.shared), now: systemClock.monotonic(), everyMs });

parentPort?.on('message', (message: Followed) => renewals.follow(message));

async function lookAtLoop(): Promise<void> {
  const found = held.look(turnsOf(order.shared), systemClock.monotonic());
  if (found === null) return;
  // The log of the process writes without its event loop.
  const { createLog } = await import('../../../lib/log.ts');
  const facts = { heldMs: Math.round(found.heldMs), endsAfterMs: HELD_ENDED_MS };
  if (found.to === 'log') {
    createLog().error(
      facts,
      'the event loop is blocked; the daemon will be ended and its jobs interrupted if this continues',
    );
    return;
  }
  createLog().error(facts, 'the daemon does not react and is ended; its jobs are interrupted');
  // No handler can run: what ends a daemon in order is what does not react.
  process.kill(process.pid, 'SIGKILL');
}

for (;;) {
  await lookAtLoop();
  await renewals.renew();
  await pause(systemClock, everyMs);
}
