import type { Db, EndpointRow } from '../schema/schema.ts';

/**
 * The endpoints that get notifications: those of tokens that are neither revoked nor expired, and of the local command
 * line.
 */
export function listLiveEndpoints(db: Db, now: number): Promise<EndpointRow[]> {
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
