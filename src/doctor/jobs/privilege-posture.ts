import { isReservedName } from '../../domain/access/reserved-name.ts';
import { countPrivileged, countWritable } from '../../store/jobs/jobs.ts';
import type { TokenRow } from '../../store/schema/schema.ts';
import { listTokens } from '../../store/access/tokens.ts';
import { type Facts, type Finding, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;

/** Counts recent runs without the sandbox, and names tokens that have a name reserved for the service. */
export function examinePrivilegePosture({ clock, openedStore }: Facts): Promise<Finding> {
  return withStore(openedStore, async (store) => {
    const since = clock.now() - DAYS * DAY_MS;
    const [privileged, writable] = [await countPrivileged(store.db, since), await countWritable(store.db, since)];
    const runs =
      `${runsOf(privileged)} queued in the last ${DAYS} days ran unsandboxed` +
      `${writable === 0 ? '' : `; ${runsOf(writable)} could write outside the directory of a run`}.`;
    const reserved = (await listTokens(store.db)).filter(
      (token) => isActive(token, clock.now()) && [token.name, token.owner].some(isReservedName),
    );
    if (reserved.length > 0) return warn(`${runs} ${reserved.map(wordsOf).join(' ')}`);
    return privileged + writable === 0 ? ok(runs) : warn(runs);
  });
}

function runsOf(count: number): string {
  return `${count === 0 ? 'No' : count} ${count < 2 ? 'run' : 'runs'}`;
}

function isActive({ revoked_at: revokedAt, expires_at: expiresAt }: TokenRow, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

/** Describes a token that an earlier build allowed. It still works as a person's token. */
function wordsOf({ name, owner }: TokenRow): string {
  return (
    `The token ${name} of the owner ${owner} has a name that is reserved for the service: its entries in the ` +
    'audit ledger can be mistaken for those of the service. Create another one and revoke it.'
  );
}
