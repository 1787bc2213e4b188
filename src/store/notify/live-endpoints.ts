import { type Checked, ifTagged, type TagReader } from '../engine/tags/tags.ts';
import type { Db, EndpointRow } from '../schema/schema.ts';

/**
 * The endpoints that get notifications: those of tokens that are neither revoked nor expired, and of the local command
 * line. One that somebody wrote into the database gets none.
 */
export async function listLiveEndpoints(at: TagReader, now: number): Promise<Checked<EndpointRow>[]> {
  const live: Checked<EndpointRow>[] = [];
  for (const row of await registeredEndpoints(at.db, now)) {
    const checked = await ifTagged(at, 'endpoints', row);
    if (checked !== undefined) live.push(checked);
  }
  return live;
}

/** The same without a look at their tags, for counts. */
export function registeredEndpoints(db: Db, now: number): Promise<EndpointRow[]> {
  return db
    .selectFrom('endpoints')
    .leftJoin('tokens', 'tokens.id', 'endpoints.token_id')
    .selectAll('endpoints')
    .where((eb) =>
      eb.or([
        eb('endpoints.token_id', 'like', 'local:%'),
        eb.and([
          eb('tokens.id', 'is not', null),
          eb('tokens.revoked_at', 'is', null),
          eb.or([eb('tokens.expires_at', 'is', null), eb('tokens.expires_at', '>', now)]),
        ]),
      ]),
    )
    .orderBy('endpoints.id')
    .execute();
}
