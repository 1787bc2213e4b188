import { type Checked, checkTag } from '../../store/engine/tags/tags.ts';
import type { SourceRow } from '../../store/schema/schema.ts';
import { getSource } from '../../store/sources/sources.ts';
import type { Context } from '../core/operation.ts';

/** A source whose place may be used. Throws not_found, and forbidden for a row that was changed in the database. */
export async function checkedSource({ store }: Context, name: string): Promise<Checked<SourceRow>> {
  return checkTag(store, 'sources', await getSource(store.db, name));
}
