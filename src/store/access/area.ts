import { CLOCKS_APART_MS } from '../../lib/clock.ts';
import type { StoreArea } from '../area.ts';
import { countedUp } from '../engine/counts.ts';
import { retagged } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import { movedTo } from '../stored-times.ts';

export const ACCESS: StoreArea = {
  restored: async ({ db }) => void (await db.deleteFrom('sessions').execute()),
  times: [
    { name: 'sessions', by: 'machine', correct: correctSessions },
    { name: 'tokens', by: 'machine', correct: correctTokens },
  ],
};

async function correctSessions({ db, ring }: Tx, now: number): Promise<number> {
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .where('created_at', '>', now + CLOCKS_APART_MS)
    .execute();
  for (const row of rows)
    await db
      .updateTable('sessions')
      .set(retagged(ring, 'sessions', row, movedTo(now, row)))
      .where('id', '=', row.id)
      .execute();
  return rows.length;
}

/** Tokens without an end are valid whatever the clock says. */
async function correctTokens({ db, ring }: Tx, now: number): Promise<number> {
  const rows = await db
    .selectFrom('tokens')
    .selectAll()
    .where('revoked_at', 'is', null)
    .where('created_at', '>', now + CLOCKS_APART_MS)
    .execute();
  let count = 0;
  for (const { expires_at: end, ...row } of rows) {
    if (end === null) continue;
    const whole = { ...row, expires_at: end };
    await db
      .updateTable('tokens')
      .set({ ...retagged(ring, 'tokens', whole, movedTo(now, whole)), version: countedUp('version') })
      .where('id', '=', row.id)
      .where('revoked_at', 'is', null)
      .execute();
    count += 1;
  }
  return count;
}
