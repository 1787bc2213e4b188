import { shortDuration } from '../../domain/duration.ts';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { backupFileName, type BackupSpec, partialFileName } from '../../domain/backups/backup.ts';
import type { BackupHead } from '../../domain/backups/head.ts';
import { entryPath } from '../../domain/path-part.ts';
import { formatSize } from '../../domain/size.ts';
import { syncDirectory } from '../../lib/atomic-file.ts';
import type { Clock } from '../../lib/clock.ts';
import { errorCode } from '../../lib/error-code.ts';
import { openingForRoot, openingText } from '../../lib/files/closed.ts';
import { findProgram } from '../../lib/programs/find-program.ts';
import type { Keyring } from '../../lib/seal.ts';
import { drain, openSealedFile } from '../../lib/sealed-file/read.ts';
import { type SealedFileFacts, writeSealedFile } from '../../lib/sealed-file/write.ts';
import { makeInputsDir } from '../run-dir.ts';
import type { Runner, RunJob, RunOutcome, RunTools } from '../runner.ts';

/** How a copy of the store is made. */
type StoreCopy =
  | { readonly by: 'store'; copyTo(file: string, signal: AbortSignal): Promise<CopyFacts> }
  | {
      readonly by: 'program';
      readonly facts: CopyFacts;
      readonly needs: string;
      readonly argv: (file: string) => readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      close(): Promise<void>;
    };

type CopyFacts = Pick<BackupHead, 'schema' | 'jobs' | 'heads'>;

interface BackupMaterials {
  readonly copy: StoreCopy;
  /** What the head says, beside what the copy holds. */
  readonly head: Omit<BackupHead, keyof CopyFacts>;
  /** Seals the file, and opens it again to check it. */
  readonly ring: Pick<Keyring, 'seal' | 'open'>;
  /** Where backups are kept. */
  readonly folder: string;
}

/** A backup in its place, and checked. */
export interface MadeBackup extends SealedFileFacts {
  readonly file: string;
  readonly verifiedAt: number;
  readonly heads: BackupHead['heads'];
}

type Job = RunJob<BackupSpec, BackupMaterials>;
type Tools = RunTools<never>;

const FOLDER_MODE = 0o700;

/**
 * Copies the store, seals the copy into a file of the folder of backups, and reads that file to its end before it gets
 * its name.
 */
export const backupRunner: Runner<BackupSpec, BackupMaterials, never, MadeBackup> = {
  clearFiles: [],
  async run(job, tools) {
    const limit = timeLimit(tools.clock, job.timeoutMs);
    const signal = AbortSignal.any([tools.signal, limit.signal]);
    try {
      return { state: 'succeeded', exitCode: 0, result: await make(job, tools, signal) };
    } catch (error) {
      if (tools.signal.aborted) return { state: 'cancelled', exitCode: null };
      tools.say(limit.signal.aborted ? 'The job reached its time-out and was stopped.' : reasonOf(error));
      return FAILED;
    } finally {
      limit.cancel();
      await rm(entryPath(job.materials.folder, partialFileName(job.id)), { force: true }).catch(() => undefined);
    }
  },
};

const FAILED: RunOutcome<MadeBackup> = { state: 'failed', exitCode: null };

async function make(job: Job, tools: Tools, signal: AbortSignal): Promise<MadeBackup> {
  const { folder, head, ring } = job.materials;
  await mkdir(folder, { mode: FOLDER_MODE }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
  // It may have been missing at the start, or removed since: then others may have made it (T89).
  const opening = openingForRoot(folder);
  if (opening !== null) throw new Error(`The folder of backups cannot be trusted: ${openingText(opening)}.`);
  // Beside the run directory: a folder that only the service may read.
  const copy = join(makeInputsDir(tools.runDir), 'store.copy');
  const facts = await copyStore(job, tools, copy, signal);
  const partial = entryPath(folder, partialFileName(job.id));
  await rm(partial, { force: true });
  const content = createReadStream(copy, { highWaterMark: 1024 * 1024 });
  const written = await writeSealedFile(partial, { id: head.id, ring, head: { ...head, ...facts }, content, signal });
  // What is in the way until the end of the run is room on the disk.
  await unlink(copy);
  tools.say(`Sealed ${formatSize(written.sizeBytes)}.`);
  await requireReadable(partial, written, ring, signal);
  signal.throwIfAborted();
  const file = backupFileName(job.spec, head.id, head.created_at);
  await rename(partial, entryPath(folder, file));
  await syncDirectory(folder);
  tools.say(`Verified backup ${head.id}: ${file}`);
  return { ...written, file, verifiedAt: tools.clock.now(), heads: facts.heads };
}

async function copyStore(job: Job, tools: Tools, to: string, signal: AbortSignal): Promise<CopyFacts> {
  const { copy } = job.materials;
  const began = tools.clock.monotonic();
  const facts = copy.by === 'store' ? await copy.copyTo(to, signal) : await dump(copy, tools, to);
  const { size } = await lstat(to);
  const tookMs = tools.clock.monotonic() - began;
  tools.say(`Copied the store with ${facts.jobs} jobs (${formatSize(size)}) in ${shortDuration(tookMs)}.`);
  return facts;
}

async function dump(copy: Extract<StoreCopy, { by: 'program' }>, tools: Tools, to: string): Promise<CopyFacts> {
  try {
    const [name = '', ...args] = copy.argv(to);
    const program = await findProgram(name, tools.searchPath);
    if (program === null) throw new Error(`${name} is not on the PATH of the daemon; install the client of PostgreSQL`);
    const { environment } = copy;
    const end = await tools.exec({ argv: [program, ...args], connectPorts: 'any', asService: true, environment });
    if (end.exitCode !== 0 || end.reason !== 'exited')
      throw new Error(`${name} ended with ${end.exitCode ?? end.reason}; its messages are above. ${copy.needs}`);
    return copy.facts;
  } finally {
    await copy.close();
  }
}

/** Reads what was written again: to the digest, to each seal, and to the end of the compressed content. */
async function requireReadable(
  path: string,
  written: SealedFileFacts,
  ring: Pick<Keyring, 'open'>,
  signal: AbortSignal,
): Promise<void> {
  const file = await openSealedFile(path, signal);
  try {
    if (file.sha256 !== written.sha256) throw new Error('the file on the disk is not what was written');
    await file.head(ring);
    await file.content(ring, drain, signal);
  } finally {
    await file.close();
  }
}

function timeLimit(clock: Clock, ms: number): { readonly signal: AbortSignal; cancel(): void } {
  const over = new AbortController();
  return { signal: over.signal, cancel: clock.after(ms, () => over.abort()) };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'its file system is read-only',
  EACCES: 'this user may not write there',
  ENOENT: 'the directory of backups does not exist',
  ENOTDIR: 'the directory of backups is not a directory',
};

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  const reason = code === null ? undefined : REASONS[code];
  return `No backup was made: ${reason ?? (error instanceof Error ? error.message : 'unknown error')}.`;
}
