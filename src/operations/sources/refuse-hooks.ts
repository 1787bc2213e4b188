import { Failure } from '../../domain/failure.ts';
import { findSource } from '../../store/sources/sources.ts';
import { placeOfSource } from '../../store/sources/source-place.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { Context } from '../core/operation.ts';

/**
 * Refuses a source that declares lifecycle hooks: they never run, and without them the result would be another one. The
 * copy of the run is checked again. Throws not_implemented, and forbidden for a row that was changed in the database.
 */
export async function refuseHooks({ store, services }: Context, name: string): Promise<void> {
  const source = await findSource(store.db, name);
  if (source === undefined) return;
  const tree = await services.sources.treeOf(placeOfSource(await checkTag(store, 'sources', source)));
  // A tree that is not on this machine is looked at where it runs.
  const file = tree === null ? null : await services.sources.hooksFile(tree);
  if (file === null) return;
  throw new Failure(
    'not_implemented',
    `Source ${name} declares lifecycle hooks (${file}), and hooks are not run here: nothing is run from it.`,
  );
}
