import { type PinnedFiles, readPinned } from '../../domain/approvals/pinned.ts';
import { Failure } from '../../domain/failure.ts';
import { KINDS } from '../../domain/kinds.ts';
import type { Tree } from '../../domain/sources/directory.ts';
import { ifTagged, type TagReader } from '../../store/engine/tags/tags.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import { placeOfNamed, placeOfSource, placeOfWorkspace, type SourcePlace } from '../../store/sources/source-place.ts';
import { findSource } from '../../store/sources/sources.ts';
import { findWorkspace } from '../../store/workspaces/workspaces.ts';
import type { ApprovalCheck } from '../queue-rules.ts';

/** The directory whose files a run copies. */
interface RunDirectory {
  readonly place: SourcePlace;
  /** Whether the run leaves out its plugins. */
  readonly leavesPlugins: boolean;
  /** Whose it is, for a sentence. */
  readonly called: string;
}

/** Null for files of a commit, for none, and where the row that names it is gone or was changed in the database. */
export async function directoryOf(
  on: TagReader,
  { kind, source, workspace, spec }: Pick<JobRow, 'kind' | 'source' | 'workspace' | 'spec'>,
): Promise<RunDirectory | null> {
  const facts = KINDS[kind];
  const leavesPlugins = facts.leavesPlugins === true;
  if (source !== null) {
    const row = await ifTagged(on, 'sources', await findSource(on.db, source));
    if (row?.kind !== 'dir') return null;
    return {
      place: placeOfSource(row),
      leavesPlugins: leavesPlugins && row.plugins !== 1,
      called: `source ${row.name}`,
    };
  }
  if (workspace !== null) {
    const row = await ifTagged(on, 'workspaces', await findWorkspace(on.db, workspace));
    if (row === undefined || row.source !== null) return null;
    return { place: placeOfWorkspace(row), leavesPlugins, called: `workspace ${row.name}` };
  }
  const own = facts.directory?.(facts.readSpec(spec)) ?? null;
  return own === null ? null : { place: placeOfNamed(own.path, own.kept), leavesPlugins, called: 'its directory' };
}

/** As a sentence. */
export function changedFiles(called: string): string {
  return `The files of ${called} are not as they were when this job was asked for.`;
}

/** Whether files were read at all. What they are by now is compared before the transaction of a decision. */
export function checkFiles(files: PinnedFiles | undefined): ApprovalCheck {
  if (files?.is === 'unreadable') return { is: 'changed', why: files.why };
  if (files?.is !== 'unread') return { is: 'good' };
  const who = 'A daemon on a machine that has the directory does so';
  return { is: 'unread', why: `The files of its directory have not been read yet. ${who}: try again in a moment.` };
}

/** The tree of a run, whose copy is compared with what was approved. Throws conflict where nothing was read. */
export function approvedTree({ pinned }: Pick<JobRow, 'pinned'>, tree: Tree, called: string): Tree {
  const files = readPinned(pinned)?.files;
  if (files === undefined) return tree;
  if (files.is !== 'read')
    throw new Failure('conflict', `The files of ${called} were not read before the approval. Nothing was run.`);
  return { ...tree, approved: { digest: files.digest, change: `${changedFiles(called)} Nothing was run.` } };
}
