/** A rule as the build before bounded values wrote its row. */
import { sql } from 'kysely';
import type { Store } from '../../src/store/store.ts';

export async function addEarlierRule(store: Store, name: string, command: readonly string[]): Promise<void> {
  const action = JSON.stringify({ kind: 'command', command, inventory: 'localhost', limit: null, timeout: null });
  const when = 'event.source == "generic"';
  await store.write((tx) =>
    sql`insert into rules (name, enabled, when_text, cooldown_ms, approval, approval_ttl_ms, action, owners, added_by, version, created_at, updated_at, last_fired_at, one_tap, order_tag, order_key_id)
      values (${name}, 1, ${when}, null, 'none', null, ${action}, '["rolf"]', 'rolf', 1, 1, 1, null, 0, null, null)`.execute(
      tx.db,
    ),
  );
}
