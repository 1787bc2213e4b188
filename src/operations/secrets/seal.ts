import { Failure } from '../../domain/failure.ts';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { type Keyring, SEAL_ALGORITHM } from '../../lib/seal.ts';
import type { Db } from '../../store/schema/schema.ts';
import { resealAll } from '../../store/secrets/reseal.ts';
import { assertSameKey, countSealed, holdsSealed, noteUsed, takeOver } from '../../store/secrets/seal.ts';
import { countActiveTokens } from '../../store/access/tokens.ts';
import { localOnly, readOperation, writeOperation } from '../core/operation.ts';
import { actorOf, reply, written } from '../core/reply.ts';
import type { ViewData } from '../../views/views.ts';
import { exportSeal } from './seal-export.ts';

const LOCAL_ONLY = localOnly('The seal key is a file of this machine and is managed on this machine only.');

/** Rows that could not be sealed again and are named; the others are counted. */
const NAMED_MAX = 5;

/**
 * `missing`: there is no key file. `foreign`: something was sealed with a key that is not in it. `rotating`: something
 * is still under an older key of it, as after a rotation that was cut short.
 */
async function statusOf(db: Db, ring: Keyring | null): Promise<ViewData<'seal.status'>> {
  const { total, foreign, old, used, usedIsForeign } = await countSealed(db, ring);
  const noted = used !== null && used.key_id === ring?.activeId ? used.created_at : null;
  const since = ring?.activeSince ?? noted;
  const rest = foreign > 0 || usedIsForeign ? 'foreign' : old > 0 ? 'rotating' : 'ok';
  return {
    key_id: ring?.activeId ?? null,
    algorithm: SEAL_ALGORITHM,
    created_at: since === null ? null : rfc3339(since),
    sealed_items: total,
    state: ring === null ? 'missing' : rest,
  };
}

const status = readOperation({
  id: 'seal.status',
  summary: 'Show the active seal key and whether it seals every value',
  scopes: READERS,
  ...LOCAL_ONLY,
  cli: { verb: 'seal status', examples: ['svc seal status'] },
  answers: ['seal.status'],
  failures: ['invalid_argument'],
  async run({ store, services }) {
    // Looking makes no key.
    const ring = await services.seal.find();
    return reply('seal.status', await statusOf(store.db, ring));
  },
});

const init = writeOperation({
  id: 'seal.init',
  causes: { none: 'Set at the machine only, by an account that can write the store itself.' },
  summary: 'Create the seal key now instead of on first start',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'seal init', examples: ['svc seal init', 'svc seal init --seal-key-file /var/lib/gatehouse/seal.key'] },
  answers: ['seal.status'],
  failures: ['invalid_argument'],
  async prepare({ store, services }): Promise<{ ring: Keyring; isNeeded: boolean }> {
    const ring = await services.seal.keyring();
    const isNeeded = (await holdsSealed(store.db)) || (await countActiveTokens(store.db, services.clock.now())) > 0;
    if (isNeeded) await assertSameKey(store, ring);
    return { ring, isNeeded };
  },
  async run({ tx }, _input, { ring, isNeeded }) {
    // The key that was noted is lost, and nothing is lost with it.
    if (!isNeeded) await takeOver(tx, ring);
    return written(reply('seal.status', await statusOf(tx.db, ring)), null);
  },
});

interface Rotated {
  readonly ring: Keyring;
  readonly added: boolean;
  /** The number of rows sealed again. */
  readonly items: number;
}

const rotate = writeOperation({
  id: 'seal.rotate',
  causes: { none: 'Set at the machine only, by an account that can write the store itself.' },
  summary: 'Rotate the seal key and reseal all values; resume after a failure',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'seal rotate', examples: ['svc seal rotate'] },
  answers: ['seal.status'],
  failures: ['invalid_argument', 'conflict', 'unavailable'],
  async prepare({ store, services, caller }): Promise<Rotated> {
    const by = actorOf(caller);
    const before = await services.seal.keyring();
    await assertSameKey(store, before);
    // What is left of a rotation that was cut short is done first, and then that was it: its key was added already.
    const left = await resealAll(store, before, by);
    if (left.count > 0) return requireWhole({ ring: before, added: false, items: left.count }, left.broken);
    const ring = await services.seal.rotate();
    // Noted before anything is sealed with it, so that a daemon without it is refused from here on.
    await store.write(async (tx) => {
      await noteUsed(tx, ring);
      tx.record({ ...by, operation: 'seal.rotate', target: ring.activeId, detail: { added: true } });
    });
    const all = await resealAll(store, ring, by);
    return requireWhole({ ring, added: true, items: all.count }, all.broken);
  },
  async run({ tx }, _input, { ring, added, items }) {
    await noteUsed(tx, ring);
    return written(reply('seal.status', await statusOf(tx.db, ring)), ring.activeId, { added, items });
  },
});

/** Throws conflict where something could not be opened, once everything else is done. */
function requireWhole(rotated: Rotated, broken: readonly string[]): Rotated {
  if (broken.length === 0) return rotated;
  const more = broken.length > NAMED_MAX ? ` and ${broken.length - NAMED_MAX} more` : '';
  const done = rotated.added ? `Key ${rotated.ring.activeId} seals from now on` : 'The rotation was finished';
  throw new Failure(
    'conflict',
    `${done}, but these were altered and stay as they are: ${broken.slice(0, NAMED_MAX).join(', ')}${more}.`,
  );
}

export const SEAL_OPERATIONS = [status, init, rotate, exportSeal];
