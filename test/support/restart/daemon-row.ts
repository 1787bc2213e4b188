import { newId } from '../../../src/lib/id.ts';
import { insertDaemon } from '../../../src/store/maintenance/daemons.ts';
import { recordDigest, settleRestart } from '../../../src/store/maintenance/restarts.ts';
import type { Program } from '../program.ts';

/** A daemon of this machine that lives, with the digest of what it runs. */
export async function daemonRow(
  { store }: Program,
  digest: string | null,
  node = 'web1',
): Promise<Record<string, string>> {
  await store.write(async (tx) => {
    const id = newId('dmn', tx.now);
    await insertDaemon(tx, {
      id,
      host: 'test-host',
      boot_id: 'test-boot',
      pid: 1,
      version: '0.0.0-test',
      started_at: tx.now,
      lease_until: null,
      stopped_at: null,
      node,
    });
    const program = { root: '/nowhere', main: '/nowhere/main.js', executable: '/nowhere/node', uid: 0 };
    await settleRestart(tx, { node, daemonId: id, program, follows: false });
    if (digest !== null) await recordDigest(tx, id, digest);
  });
  return {};
}
