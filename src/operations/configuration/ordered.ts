/** The run of an approved change: the same plan as was approved, in one transaction, in the name of its author. */
import type { Caller } from '../../domain/access/caller.ts';
import type { ConfigSpec } from '../../domain/config-order/kind.ts';
import { Failure } from '../../domain/failure.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { Context } from '../core/operation.ts';
import type { ConfigSections } from '../core/sections/section.ts';
import { actorOf } from '../core/reply.ts';
import { applyParts, countsOf } from './apply-parts.ts';
import { refuseFromAfar } from './from-afar.ts';
import { digestOfChanges } from './ordered-changes.ts';
import { type LoadOperation, planOf, prepareChanges } from './plan.ts';

interface Ordered {
  readonly jobId: string;
  readonly file: string;
  readonly spec: ConfigSpec;
  readonly sections: ConfigSections;
  readonly load: LoadOperation;
}

/** Throws conflict where an object has moved since. The answer writes all of it; it throws as that transaction does. */
export async function prepareOrdered(
  place: Omit<Context, 'caller'>,
  { jobId, file, spec, sections, load }: Ordered,
): Promise<(tx: Tx) => Promise<void>> {
  const caller = callerOf(spec);
  const context = { ...place, caller };
  const plan = await planOf(context, sections, { text: file, prune: spec.prune, take: spec.take });
  if (digestOfChanges(plan) !== spec.changes)
    throw new Failure('conflict', 'Something that this change is about has moved since it was asked for; ask again.');
  await refuseFromAfar(plan.changes);
  const parts = await prepareChanges(context, load, plan.changes);
  return async (tx) => {
    await applyParts({ ...context, tx, because: null }, plan, parts);
    const detail = { ...countsOf(plan), job_id: jobId };
    tx.record({ ...actorOf(caller), operation: 'config.apply', target: plan.set, detail });
  };
}

/** The author as when the change was asked for: the yes of another person is what it acts on, not the token. */
function callerOf({ author: { id, name, owner, via } }: ConfigSpec): Caller {
  const rights = { scope: 'operator', scopes: ['operator'], credential: 'token' } as const;
  return { id, name, owner, via, ...rights, expiresAt: null, agent: null };
}
