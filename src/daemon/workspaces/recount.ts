import { Failure } from '../../domain/failure.ts';
import { recounted } from '../../domain/plan-words.ts';
import type { Keyring } from '../../lib/seal.ts';
import { openPlanView, sealPlanView } from '../../operations/approvals/plan-view.ts';
import type { Projected } from '../../views/views.ts';
import { findPlanView, plansToRecount, replaceSummary } from '../../store/workspaces/artifacts.ts';
import type { Store } from '../../store/store.ts';
import type { MakeLoop } from '../core/loop.ts';

interface RecountDeps {
  readonly store: Store;
  readonly keyring: () => Promise<Keyring>;
}

/** Only an upgrade makes work for it: the first pass does it all. */
const RECOUNT_EVERY_MS = 86_400_000;
const BATCH = 50;

/**
 * Counts the changes of plans of earlier builds again from their views, in which a replacement is known: those builds
 * counted it as a destroy. A plan that cannot be opened keeps its summary.
 */
export async function recountPlans(deps: RecountDeps, signal?: AbortSignal): Promise<number> {
  let count = 0;
  let last = '';
  const ended = (): boolean => signal?.aborted === true;
  while (!ended()) {
    const ids = await plansToRecount(deps.store.db, last, BATCH);
    for (const id of ids) if (await recount(deps, id)) count += 1;
    if (ids.length < BATCH) break;
    last = ids.at(-1) ?? last;
  }
  return count;
}

async function recount({ store, keyring }: RecountDeps, id: string): Promise<boolean> {
  const kept = await findPlanView(store.db, id);
  if (kept === undefined) return false;
  let json: Buffer;
  try {
    json = await openPlanView({ keyring }, kept);
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
  const view = JSON.parse(json.toString('utf8')) as Projected<'approval.plan'>;
  const summary = recounted(view.summary, view);
  if (summary === null) return false;
  const sealedView = await sealPlanView(await keyring(), kept, JSON.stringify({ ...view, summary }));
  return store.write((tx) => replaceSummary(tx, kept, { summary, sealed_view: sealedView }));
}

export const recountLoop: MakeLoop<RecountDeps> = (deps) => ({
  name: 'recount',
  everyMs: RECOUNT_EVERY_MS,
  wakeOn: [],
  once: async (signal) => ({ did: { plans: await recountPlans(deps, signal) } }),
});
