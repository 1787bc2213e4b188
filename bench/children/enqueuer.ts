/** The local command line's way to queue a job, in a process that stays: what is measured is not the start of Node. */
import { openLocal } from '../../src/app/local.ts';
import { readSettings } from '../../src/config/settings/read-settings.ts';
import { invoke } from '../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { orders, say } from '../kit/child.ts';
import { monotonicMs } from '../kit/time.ts';
import type { EnqueueOrder } from './orders.ts';

const RAW = { inventory: 'localhost', command: ['/bin/true'] };

type Local = Awaited<ReturnType<typeof openLocal>>;

async function enqueue({ runtime, caller }: Local): Promise<string> {
  const operation = OPERATIONS.find((row) => row.id === 'command.run');
  if (operation === undefined) throw new Error('there is no operation command.run');
  const answer = await invoke(runtime, operation, { caller, raw: RAW });
  return answer.shape === 'body' ? (answer.data as { job_id: string }).job_id : '';
}

async function perSecond(local: Local, callers: number, durationMs: number): Promise<number> {
  const before = monotonicMs();
  let count = 0;
  const caller = async (): Promise<void> => {
    while (monotonicMs() - before < durationMs) {
      await enqueue(local);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return count / ((monotonicMs() - before) / 1000);
}

let local: Local | null = null;
for await (const order of orders<EnqueueOrder>()) {
  if (order.do === 'open') {
    local = await openLocal(
      readSettings(
        { 'data-dir': order.dataDir, 'seal-key-file': order.sealKeyFile },
        { SVC_DATABASE_URL: order.databaseUrl },
      ),
    );
    say({ open: true });
  } else if (local !== null) {
    if (order.do === 'many') say(await perSecond(local, order.callers, order.durationMs));
    else {
      const calledAt = monotonicMs();
      const jobId = await enqueue(local);
      say({ jobId, calledAt, committedAt: monotonicMs() });
    }
  }
}
await local?.close();
