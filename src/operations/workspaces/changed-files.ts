import { Failure } from '../../domain/failure.ts';
import type { Tree } from '../../domain/sources/directory.ts';
import { staleFrom } from '../../jobs/workspaces/stale.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import { findSource } from '../../store/sources/sources.ts';
import type { WorkspaceRow } from '../../store/schema/schema.ts';
import { findArtifact } from '../../store/workspaces/artifacts.ts';
import { getWorkspace } from '../../store/workspaces/workspaces.ts';
import type { Context } from '../core/operation.ts';
import { placeOfSource, placeOfWorkspace } from '../../store/sources/source-place.ts';

/**
 * Refuses a saved plan whose files have changed since it was made: its apply would fail, after a person has decided
 * about it. The copy of the run is compared again. Files that are not on this machine are compared by the run alone,
 * and a plan that is refused for another reason is left to that refusal. Throws not_found and conflict.
 */
export async function refuseChangedFiles(context: Context, name: string, planId: string): Promise<void> {
  const { db } = context.store;
  const workspace = await getWorkspace(db, name);
  const plan = await findArtifact(db, planId);
  if (plan?.workspace !== name || plan.consumed_by !== null) return;
  if (plan.verdict === null || plan.verdict === 'deny' || staleFrom(plan, workspace) !== null) return;
  const tree = await treeOf(context, workspace);
  if (tree === null) return;
  const changed = await changeOf(context, tree, plan.tree_digest);
  if (changed !== null) throw new Failure('conflict', `The plan ${planId} cannot be applied: ${changed} Plan again.`);
}

/** In words; null where the files are those of the plan. */
async function changeOf({ services }: Context, tree: Tree, digest: string): Promise<string | null> {
  try {
    return (await services.sources.digestOf(tree)) === digest
      ? null
      : 'the files of the workspace have changed since it was made.';
  } catch (error) {
    return `the files of the workspace cannot be read as when it was made: ${(error as Error).message}`;
  }
}

async function treeOf({ store, services }: Context, workspace: WorkspaceRow): Promise<Tree | null> {
  const checked = await checkTag(store, 'workspaces', workspace);
  if (checked.source === null) return services.sources.treeOf(placeOfWorkspace(checked));
  const row = await findSource(store.db, checked.source);
  return row === undefined ? null : services.sources.treeOf(placeOfSource(await checkTag(store, 'sources', row)));
}
