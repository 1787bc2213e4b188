import type { Pinned } from '../../domain/approvals/pinned.ts';
import { inventoryIn } from '../../domain/kinds.ts';
import { ifTagged } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { NewJob } from '../../store/jobs/jobs.ts';
import { findSource } from '../../store/sources/sources.ts';
import { directoryOf } from './directory.ts';
import { keyOf, PINNED_ROWS, type PinnedKind } from './settings.ts';

/** What a request is about, as it is now. Null where the order says all. The files of a directory are read later. */
export async function pinsOf(
  tx: Tx,
  job: Pick<NewJob, 'kind' | 'source' | 'workspace' | 'spec' | 'planArtifactId'>,
): Promise<Pinned | null> {
  const { source, workspace } = job;
  const named = (
    [
      ['source', source],
      ['workspace', workspace],
      ['inventory', inventoryIn(job)],
    ] as const
  ).filter(isNamed);
  // The run of a saved plan compares its files with those of the plan.
  const hasFiles = job.planArtifactId === undefined && (await directoryOf(tx, job)) !== null;
  if (named.length === 0 && !hasFiles) return null;
  const settings: Record<string, string> = {};
  for (const [kind, name] of named) settings[keyOf(kind, name)] = await PINNED_ROWS[kind].pin(tx, name);
  return { ...(await commitOf(tx, source)), settings, ...(hasFiles ? { files: { is: 'unread' } } : {}) };
}

function isNamed(pair: readonly [PinnedKind, string | null]): pair is readonly [PinnedKind, string] {
  return pair[1] !== null;
}

/** Absent for a directory, and for a row that somebody changed: its settings match nothing. */
async function commitOf(tx: Tx, source: string | null): Promise<Pick<Pinned, 'commit'>> {
  const row = source === null ? undefined : await ifTagged(tx, 'sources', await findSource(tx.db, source));
  return row?.kind === 'git' && row.commit_id !== null ? { commit: row.commit_id } : {};
}
