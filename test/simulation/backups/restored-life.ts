import { AREAS } from '../areas/areas.ts';
import { verifyLedger } from '../../../src/store/audit/verify.ts';
import { Clients } from '../clients.ts';
import { Place } from '../place.ts';
import { BOOT_MS, rest } from '../rest.ts';
import { lookAtRest } from '../rules/at-rest.ts';
import { type Rows, Watch } from '../rules/rules.ts';
import { Senders } from '../senders/senders.ts';
import { storeIn } from '../stores/sqlite.ts';
import type { World } from '../world/world.ts';

/** Before an operator lifts the cordon: longer than any loop of a daemon waits. */
const CORDONED_MS = 90_000;
const KEY = 'key-after-restore';

/**
 * Starts a daemon on a restored store: it does nothing of what was under way, and works once it may. The machine room
 * of the world is then that of this store. Answers sentences, each of which is something that must not be.
 */
export async function liveOn(world: World, dataDir: string, backup: Rows): Promise<readonly string[]> {
  world.hosts.length = 0;
  const place = new Place(world, storeIn(world, dataDir));
  place.oracle.isAsleep = true;
  const { watch, store } = place;
  const old = new Set(['jobs', 'pages'].flatMap((table) => backup(`select id from ${table}`)).map(({ id }) => id));
  const states = 'select id, state from jobs order by id';
  const before = store.rows(states).filter(({ id }) => old.has(id));
  const known = atRest(place);
  const clients = new Clients(place, false);
  try {
    place.addDaemon();
    await place.until(() => place.nodes.size === 1, BOOT_MS);
    const command = { inventory: 'localhost', command: ['succeeds', KEY] };
    void clients.act({ do: 'call', afterMs: 0, as: 'operator', operation: 'command.run', raw: command, key: KEY });
    await place.until(() => false, CORDONED_MS);
    if (place.processes.all.length > 0) watch.violated('M1', 'a tool was started while the service is cordoned');
    await rest(place, { clients, senders: new Senders(place) }, AREAS);
    for (const { jobId } of place.processes.all)
      if (old.has(jobId)) watch.violated('J2', `the tool of ${jobId}, which is of the backup, was started again`);
    for (const message of place.messages)
      if (old.has((JSON.parse(message) as { id: string }).id))
        watch.violated('N3', `a notification of the backup was sent again: ${message}`);
    const after = store.rows(states).filter(({ id }) => old.has(id));
    if (JSON.stringify(after) !== JSON.stringify(before)) watch.violated('J5', 'a job of the backup has changed');
    const [made] = store.rows(`select state from jobs where json_extract(spec, '$.command[1]') = ?`, KEY);
    if (made?.['state'] !== 'succeeded') watch.violated('J9', `a new job is ${String(made?.['state'])}`);
    for (const what of atRest(place)) if (!known.includes(what)) watch.violated('at rest', what);
    await lookAtLedger(place);
    return watch.broken.map(({ rule, what }) => `${rule}: ${what}`);
  } finally {
    for (const host of world.hosts) if (host.isAlive) world.drop(host);
    await store.close();
  }
}

/** What the rules say of its rows. The ledger has no end of what the restore has ended, which is known before. */
function atRest({ store, processes, messages, world }: Place): readonly string[] {
  const watch = new Watch(
    store.rows,
    () => processes,
    () => world.now,
  );
  lookAtRest(store.rows, watch, messages);
  return watch.broken.map(({ rule, what }) => `${rule}: ${what}`);
}

async function lookAtLedger({ nodes, watch }: Place): Promise<void> {
  const [node] = nodes.values();
  if (node === undefined) return;
  const { faults } = await verifyLedger(node.runtime.store.db, await node.base.seal.keyring());
  for (const fault of faults) watch.violated('L2', fault);
}
