import { type DirectoryWords, RUN_WORDS, sourceWords, workspaceWords } from '../../domain/sources/directory.ts';
import type { Checked } from '../engine/tags/tags.ts';
import type { SourceRow, WorkspaceRow } from '../schema/schema.ts';

declare const NAMED: unique symbol;

/**
 * Where the files of a source, of a workspace or of one run are. Only the functions below make one: of a row whose tag
 * was checked, or of what a person names in a request or an order. So nothing is read from the path of another row.
 */
export type SourcePlace = PlaceParts & { readonly [NAMED]: true };

interface PlaceParts extends Pick<SourceRow, 'name' | 'kind' | 'location' | 'ref' | 'commit_id' | 'dir_kept'> {
  /** Whose it is, for messages. */
  readonly words: DirectoryWords;
}

export function placeOfSource(row: Checked<SourceRow>): SourcePlace {
  const { name, kind, location, ref, commit_id, dir_kept } = row;
  return made({ name, kind, location, ref, commit_id, dir_kept, words: sourceWords(name) });
}

/** The same with the commit that was approved, which a job whose tag was checked names; null: that of the row. */
export function placeOfCommit(row: Checked<SourceRow>, commit: string | null): SourcePlace {
  const place = placeOfSource(row);
  return commit === null ? place : made({ ...place, commit_id: commit });
}

/** The directory of a workspace that has no source. */
export function placeOfWorkspace({ name, path, dir_kept }: Checked<WorkspaceRow>): SourcePlace {
  return made({ ...directory(path, dir_kept), name, words: workspaceWords(name) });
}

/** A directory that a person names for a run or a workspace. `dirKept` is null until it was looked at. */
export function placeOfNamed(path: string, dirKept: string | null): SourcePlace {
  return made({ ...directory(path, dirKept), name: '', words: RUN_WORDS });
}

/** A source that is being added. */
export function placeOfNew(source: Pick<SourceRow, 'name' | 'kind' | 'location' | 'ref'>): SourcePlace {
  return made({ ...source, commit_id: null, dir_kept: null, words: sourceWords(source.name) });
}

function directory(location: string, dirKept: string | null): Omit<PlaceParts, 'name' | 'words'> {
  return { kind: 'dir', location, ref: null, commit_id: null, dir_kept: dirKept };
}

function made(parts: PlaceParts): SourcePlace {
  return parts as SourcePlace;
}
