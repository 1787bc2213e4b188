/**
 * Claims jobs, as a daemon with free slots does, until none is left. `open`, then at the word `go` all claimers begin.
 */
import { claim } from '../../src/daemon/jobs/job-transitions.ts';
import { Failure } from '../../src/domain/failure.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/id.ts';
import { testKeyring } from '../../test/support/seal.ts';
import { insertDaemon } from '../../src/store/maintenance/daemons.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { orders, say } from '../kit/child.ts';
import { monotonicMs } from '../kit/time.ts';
import type { ClaimOrder, Claimed } from './orders.ts';

interface Open {
  readonly store: Store;
  readonly daemonId: string;
  readonly slots: number;
}

async function claimAll({ store, daemonId, slots }: Open): Promise<Claimed> {
  const ids: string[] = [];
  let refused = 0;
  const from = monotonicMs();
  for (;;) {
    try {
      const rows = await store.write((tx) => claim(tx, { id: daemonId, node: 'here' }, slots));
      if (rows.length === 0) break;
      ids.push(...rows.map(({ row }) => row.id));
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'unavailable') throw error;
      refused += 1;
    }
  }
  return { ids, refused, from, to: monotonicMs() };
}

let open: Open | null = null;
for await (const order of orders<ClaimOrder | 'go'>()) {
  if (order !== 'go') {
    const daemonId = newId('dmn', systemClock.now());
    const store = await openStore({
      location: { file: order.file },
      clock: systemClock,
      daemonId,
      keyring: testKeyring,
    });
    const row = {
      host: 'bench',
      boot_id: 'bench',
      pid: process.pid,
      version: 'bench',
      lease_until: null,
      stopped_at: null,
    };
    await store.write((tx) => insertDaemon(tx, { id: daemonId, started_at: tx.now, ...row }));
    open = { store, daemonId, slots: order.slots };
    say('open');
  } else if (open !== null) {
    say(await claimAll(open));
  }
}
await open?.store.close();
