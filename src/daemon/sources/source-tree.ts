import { readPinned } from '../../domain/approvals/pinned.ts';
import { Failure } from '../../domain/failure.ts';
import type { Tree } from '../../domain/sources/directory.ts';
import { approvedTree } from '../../jobs/pins/directory.ts';
import { refuseChangedRow } from '../../jobs/pins/settings.ts';
import type { SourceFetcher } from '../../operations/sources/services.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { JobRow, SourceRow } from '../../store/schema/schema.ts';
import { getSource, keepSourceDirectory } from '../../store/sources/sources.ts';
import { placeOfCommit } from '../../store/sources/source-place.ts';
import type { Store } from '../../store/store.ts';
import { knownTree } from './known-tree.ts';

interface TreeDeps {
  readonly store: Store;
  readonly sources: Pick<SourceFetcher, 'treeOf' | 'fetch'>;
}

/**
 * The files of a source, for the run of a job to copy: of the commit that was approved, where there is one. They are
 * fetched where another machine did so before. Throws not_found, conflict for another directory than the one that was
 * named and for another source than the one that was approved, unavailable where they cannot be had, and forbidden for
 * a row that was changed in the database.
 */
export async function sourceTree(
  { store, sources }: TreeDeps,
  { job, name }: { readonly job: Pick<JobRow, 'pinned'>; readonly name: string },
  signal: AbortSignal,
): Promise<{ readonly tree: Tree; readonly source: SourceRow }> {
  const pinned = readPinned(job.pinned)?.commit ?? null;
  const { row: source, tree: here } = await knownTree(store, {
    row: async () => checkTag(store, 'sources', await getSource(store.db, name)),
    tree: (row) => sources.treeOf(placeOfCommit(row, pinned)),
    keep: keepSourceDirectory,
    operation: 'source.keep',
    target: name,
  });
  refuseChangedRow(job, 'source', source);
  if (here !== null) return { tree: approvedTree(job, here, `source ${source.name}`), source };
  // Another machine fetched it, or newer ones took its place: the run uses the commit that was recorded then.
  const place = placeOfCommit(source, pinned);
  if (place.commit_id !== null) await sources.fetch({ ...place, ref: place.commit_id }, signal);
  const fetched = await sources.treeOf(place);
  if (fetched === null)
    throw new Failure(
      'unavailable',
      `The files of source ${source.name} are not on this machine: svc source sync ${source.name}`,
    );
  return { tree: approvedTree(job, fetched, `source ${source.name}`), source };
}
