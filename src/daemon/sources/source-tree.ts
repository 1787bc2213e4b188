import { Failure } from '../../domain/failure.ts';
import type { Keyring } from '../../lib/seal.ts';
import type { SourceFetcher } from '../../operations/core/services.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { SourceRow } from '../../store/schema/schema.ts';
import { getSource } from '../../store/sources/sources.ts';
import type { Store } from '../../store/store.ts';

interface TreeDeps {
  readonly store: Store;
  readonly keyring: () => Promise<Keyring>;
  readonly sources: Pick<SourceFetcher, 'treeOf' | 'fetch'>;
}

/**
 * The files of a source, for a run to copy; they are fetched where another machine did so before. Throws not_found,
 * unavailable where they cannot be had, and forbidden for a row that somebody changed in the database.
 */
export async function sourceTree(
  { store, keyring, sources }: TreeDeps,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly tree: string; readonly source: SourceRow }> {
  const source = await getSource(store.db, name);
  await checkTag({ ring: await keyring(), adoption: store.adoption }, 'sources', source);
  const here = await sources.treeOf(source);
  if (here !== null) return { tree: here, source };
  // Another machine fetched it: the run uses the commit that was recorded then.
  if (source.commit_id !== null) await sources.fetch({ ...source, ref: source.commit_id }, signal);
  const fetched = await sources.treeOf(source);
  if (fetched === null)
    throw new Failure(
      'unavailable',
      `The files of source ${source.name} are not on this machine: svc source sync ${source.name}`,
    );
  return { tree: fetched, source };
}
