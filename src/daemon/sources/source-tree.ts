import { Failure } from '../../domain/failure.ts';
import type { Tree } from '../../domain/sources/directory.ts';
import type { SourceFetcher } from '../../operations/core/services.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { SourceRow } from '../../store/schema/schema.ts';
import { getSource, keepSourceDirectory } from '../../store/sources/sources.ts';
import { placeOfSource } from '../../store/sources/source-place.ts';
import type { Store } from '../../store/store.ts';
import { knownTree } from './known-tree.ts';

interface TreeDeps {
  readonly store: Store;
  readonly sources: Pick<SourceFetcher, 'treeOf' | 'fetch'>;
}

/**
 * The files of a source, for a run to copy; they are fetched where another machine did so before. Throws not_found,
 * conflict for another directory than the one that was named, unavailable where they cannot be had, and forbidden for a
 * row that was changed in the database.
 */
export async function sourceTree(
  { store, sources }: TreeDeps,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly tree: Tree; readonly source: SourceRow }> {
  const { row: source, tree: here } = await knownTree(store, {
    row: async () => checkTag(store, 'sources', await getSource(store.db, name)),
    tree: (row) => sources.treeOf(placeOfSource(row)),
    keep: keepSourceDirectory,
    operation: 'source.keep',
    target: name,
  });
  if (here !== null) return { tree: here, source };
  // Another machine fetched it: the run uses the commit that was recorded then.
  const place = placeOfSource(source);
  if (source.commit_id !== null) await sources.fetch({ ...place, ref: source.commit_id }, signal);
  const fetched = await sources.treeOf(place);
  if (fetched === null)
    throw new Failure(
      'unavailable',
      `The files of source ${source.name} are not on this machine: svc source sync ${source.name}`,
    );
  return { tree: fetched, source };
}
