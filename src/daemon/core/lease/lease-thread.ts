/** A thread that renews the lease of a daemon on PostgreSQL, whatever holds the event loop of the process. */
import { parentPort, workerData } from 'node:worker_threads';
import { Failure } from '../../../domain/failure.ts';
import { pause, systemClock } from '../../../lib/clock.ts';
import { writeLeaseTimes } from '../../../runners/process/lease-times.ts';
import { openLeaseConnection } from '../../../store/maintenance/lease-connection.ts';
import type { Followed, LeaseOrder, LeaseNews } from './lease-order.ts';
import { HELD_ENDED_MS, HeldLoop } from './held-loop.ts';
import { renewEveryMs, renewOnce, Trust, turnsOf } from './trust.ts';

/** Of the lease, the longest wait for an answer. */
const ANSWER_SHARE = 1 / 3;

const { url, leaseMs, shared, file, ...first } = workerData as LeaseOrder;
const trust = new Trust(systemClock, leaseMs, shared);
const connection = openLeaseConnection({ url, clock: systemClock, leaseMs, answerMs: leaseMs * ANSWER_SHARE });
const everyMs = renewEveryMs(leaseMs);
const held = new HeldLoop({ turns: turnsOf(shared), now: trust.now(), everyMs });
/** Null from the loss of the lease until the daemon has another name. */
let daemonId: string | null = first.daemonId;

parentPort?.on('message', (message: Followed) => {
  daemonId = message.daemonId;
});

function tell(news: LeaseNews): void {
  parentPort?.postMessage(news);
}

async function renew(id: string): Promise<void> {
  try {
    const renewal = await renewOnce({
      trust,
      renew: () => connection.renew(id),
      extend: (times) => writeLeaseTimes(file, times),
    });
    if (renewal === 'lost' && daemonId === id) daemonId = null;
    tell({ daemonId: id, renewal });
  } catch (error) {
    tell({ daemonId: id, failed: error instanceof Failure ? error.message : String(error) });
  }
}

async function lookAtLoop(): Promise<void> {
  const found = held.look(turnsOf(shared), trust.now());
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
  if (daemonId !== null) await renew(daemonId);
  await pause(systemClock, everyMs);
}
