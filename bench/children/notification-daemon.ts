/**
 * A whole daemon with registered endpoints, whose network is the part's own, and whose jobs are armed before they end.
 */
import { setDefaultCACertificates } from 'node:tls';
import type { Running } from '../../src/app/run/ready.ts';
import { startServe } from '../../src/app/serve.ts';
import { readSettings } from '../../src/config/settings/read-settings.ts';
import { newId } from '../../src/lib/id.ts';
import { ENDPOINTS_PER_TOKEN, insertEndpoint } from '../../src/store/notify/endpoints.ts';
import { call } from '../kit/call.ts';
import { orders, say } from '../kit/child.ts';
import { runsDirFor } from '../kit/scratch.ts';
import { monotonicMs } from '../kit/time.ts';
import type { Ended, NotificationOrder } from './notification-orders.ts';

/** Long enough to be armed before it ends. */
const COMMAND = ['/bin/sleep', '0.2'];

async function start({ dataDir, ca, ports, endpoints }: Extract<NotificationOrder, { do: 'start' }>): Promise<Running> {
  setDefaultCACertificates([ca]);
  process.env['GATEHOUSE_TEST_NETWORK'] = JSON.stringify({ ports });
  await import('../../test/support/notify/push-preload.ts');
  const flags = {
    'data-dir': dataDir,
    'web-addr': '127.0.0.1:0',
    'ingress-addr': '127.0.0.1:0',
    'runs-dir': runsDirFor(dataDir),
  };
  const running = await startServe(readSettings(flags, {}));
  // Past the API, which would ask name servers, and for as many tokens as it takes.
  await running.runtime.store.write(async (tx) => {
    for (const [i, endpoint] of endpoints.entries()) {
      const token_id = `local:bench${Math.floor(i / ENDPOINTS_PER_TOKEN)}`;
      await insertEndpoint(tx, {
        id: newId('ep', tx.now),
        token_id,
        owner: 'bench',
        endpoint,
        label: null,
        p256dh: null,
        auth: null,
      });
    }
  });
  return running;
}

async function oneJob(running: Running): Promise<Ended> {
  const ended = new Map<string, number>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const onEnd = ({ jobId }: { jobId: string }): void => {
    ended.set(jobId, monotonicMs());
    resolve();
  };
  running.signals.once('job:finished', onEnd);
  const { job_id: id } = await call<{ job_id: string }>(running, 'command.run', {
    inventory: 'localhost',
    command: COMMAND,
  });
  await call(running, 'job.notify', { id });
  await promise;
  const atMs = ended.get(id);
  if (atMs === undefined) throw new Error(`another job than ${id} ended`);
  return { jobId: id, atMs };
}

let running: Running | null = null;
for await (const order of orders<NotificationOrder>()) {
  if (order.do === 'start') {
    running = await start(order);
    say({ started: true });
  } else if (running !== null) {
    if (order.do === 'job') say(await oneJob(running));
    else {
      await running.stop();
      say({ stopped: true });
    }
  }
}
