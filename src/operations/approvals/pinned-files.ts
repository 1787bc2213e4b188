/** The files of the directory that a job which waits for approval copies: read after its request, compared at a yes. */
import { type Pinned, type PinnedFiles, readPinned } from '../../domain/approvals/pinned.ts';
import type { Decision } from '../../domain/approvals/approval.ts';
import { changedFiles, directoryOf } from '../../jobs/pins/directory.ts';
import { type Checked, ifTagged } from '../../store/engine/tags/tags.ts';
import { findJob } from '../../store/jobs/jobs.ts';
import { forgetUnread, keepPinned, listUnread } from '../../store/jobs/pinned-files.ts';
import type { ApprovalRow, JobRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import type { Context } from '../core/operation.ts';
import type { SourceFetcher } from '../sources/services.ts';

export interface FilesReader {
  readonly store: Store;
  readonly sources: Pick<SourceFetcher, 'treeOf' | 'wholeDigestOf'>;
  /** The name of the daemon in this process; null in other programs. */
  readonly node: () => string | null;
}

/** What a decision compares, from before its transaction. */
export interface FilesLook {
  /** The column of the job that was compared. */
  readonly pinned: JobRow['pinned'];
  /** Why there must be no yes, as a sentence; null for none. */
  readonly why: string | null;
}

/** For a no, and a decision that is refused for another reason. */
export const NOT_LOOKED: FilesLook = { pinned: null, why: null };

type Found = Exclude<PinnedFiles, { readonly is: 'unread' }>;

/** The size of a batch, which bounds what is in memory. */
const BATCH = 100;

export function readerOf({ store, services }: Pick<Context, 'store' | 'services'>): FilesReader {
  return { store, sources: services.sources, node: services.node };
}

/** Of every request whose files were not read yet: reads those on this machine, each directory once, and keeps them. */
export async function readUnread(reader: FilesReader, signal: AbortSignal): Promise<void> {
  let after = '';
  for (;;) {
    const jobs = await listUnread(reader.store.db, after, BATCH);
    // Of requests that were listed before it is read, so that each was asked for earlier.
    const found = new Map<string, Promise<Found | null>>();
    for (const job of jobs) {
      signal.throwIfAborted();
      await readAndKeep(reader, job, found, signal);
    }
    const last = jobs.at(-1);
    if (jobs.length < BATCH || last === undefined) return;
    after = last.id;
  }
}

/** To be called before the transaction of a decision, because reading takes time. */
export async function lookAtFiles(
  reader: FilesReader,
  { job_id: jobId, state }: Pick<ApprovalRow, 'job_id' | 'state'>,
  decision: Decision,
): Promise<FilesLook> {
  if (decision !== 'approve' || state !== 'pending') return NOT_LOOKED;
  const job = await ifTagged(reader.store, 'jobs', await findJob(reader.store.db, jobId));
  const pinned = job?.pinned ?? null;
  const files = readPinned(pinned)?.files;
  if (job === undefined || files === undefined) return { pinned, why: null };
  // Where no daemon has, or could not for a moment: this decision was not made about these files, the next one is.
  if (files.is !== 'read') await readAndKeep(reader, job, new Map());
  return { pinned, why: files.is === 'read' ? await changeOf(reader, job, files.digest) : null };
}

/** Files that this process cannot have are compared by the run alone. */
async function changeOf(reader: FilesReader, job: Checked<JobRow>, digest: string): Promise<string | null> {
  const found = await readHere(reader, job, new Map());
  if (found === null) return null;
  if (found.is === 'unreadable') return found.why;
  if (found.digest === digest) return null;
  return changedFiles((await directoryOf(reader.store, job))?.called ?? 'its directory');
}

async function readAndKeep(
  reader: FilesReader,
  row: JobRow,
  found: Map<string, Promise<Found | null>>,
  signal?: AbortSignal,
): Promise<void> {
  const { store } = reader;
  const job = await ifTagged(store, 'jobs', row);
  const pinned = readPinned(job?.pinned ?? null);
  const isDue = pinned?.files !== undefined && pinned.files.is !== 'read';
  if (job?.state !== 'awaiting_approval' || pinned === null || !isDue) {
    await store.write((tx) => forgetUnread(tx, row.id));
    return;
  }
  const files = await readHere(reader, job, found, signal);
  if (files === null) return;
  const next: Pinned = { ...pinned, files };
  await store.write((tx) => keepPinned(tx, job, next));
}

/** Null for a directory that this process cannot have, or whose run is for another daemon. `found`: what was read. */
async function readHere(
  { store, sources, node }: FilesReader,
  job: Checked<JobRow>,
  found: Map<string, Promise<Found | null>>,
  signal?: AbortSignal,
): Promise<Found | null> {
  if (job.node !== null && job.node !== node()) return null;
  const directory = await directoryOf(store, job);
  if (directory === null) return null;
  const { place, leavesPlugins, called } = directory;
  const read = async (): Promise<Found | null> => {
    try {
      const tree = await sources.treeOf(place);
      if (tree === null) return null;
      return { is: 'read', digest: await sources.wholeDigestOf(tree, leavesPlugins, signal) };
    } catch (error) {
      if (signal?.aborted === true) throw error;
      // A verb on the machine may have fewer rights than its daemon.
      if (node() === null) return null;
      return { is: 'unreadable', why: `The files of ${called} cannot be read: ${(error as Error).message}` };
    }
  };
  const key = JSON.stringify([place, leavesPlugins]);
  const reading = found.get(key) ?? read();
  found.set(key, reading);
  return reading;
}
