import { mkdir, readdir, readFile, rename, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NAME } from '../../../domain/name.ts';
import { affixed, entryPath, idPartIn, jobIdPart, namePart, type PathPart } from '../../../domain/path-part.ts';
import type { Clock } from '../../../lib/clock.ts';
import { errorCode } from '../../../lib/error-code.ts';
import { discard, eraseLeftovers } from '../../checkout/erase.ts';

/** Beside the run directories, so that it is on their disk. No run may read it: copies are made by the service. */
const FOLDER = '.initialised';
const STAGED = '.staged-';
const MANIFEST = 'kept.json';
const FILES = 'files';
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Of all workspaces together: some ten of the largest. The oldest go first. */
const KEPT_TOTAL_BYTES = 8 * 1024 * 1024 * 1024;
/** Of one workspace. A root with the providers of three clouds has 1.2 GB. */
const KEPT_BYTES = 2 * 1024 * 1024 * 1024;
/** A kept init must leave room for states: it may take this part of what is free on the disk. */
const PART_OF_FREE = 1 / 4;

/** What an `init` left. */
interface KeptManifest {
  /** Digest of all that the init depended on. */
  readonly key: string;
  /** Of the copy of `.terraform`; null where the init left none. */
  readonly digest: string | null;
  readonly bytes: number;
  readonly made_at: number;
  readonly job_id: string;
}

interface KeptInit {
  /** The files of `.terraform`. */
  readonly files: string;
  readonly manifest: KeptManifest;
}

/** The folder for the kept inits of this directory of runs. */
export function keptInitsDir(runsDir: string): string {
  return join(runsDir, FOLDER);
}

/**
 * What the last `init` of each workspace left: `<runs>/.initialised/<workspace>/<job>`. Each is made whole beside it
 * and then renamed, and renamed away before it is removed, so a crash leaves the old one, the new one or none. The
 * newest counts. Nothing is flushed: what a power cut has damaged does not have its digest, and is made again.
 */
export class KeptInits {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #totalBytes: number;

  constructor(folder: string, clock: Clock, totalBytes = KEPT_TOTAL_BYTES) {
    this.#folder = folder;
    this.#clock = clock;
    this.#totalBytes = totalBytes;
  }

  /** That of a workspace; null without one, and where it depended on something else. */
  async find(workspace: string, key: string): Promise<KeptInit | null> {
    const newest = await this.#newest(workspace);
    return newest?.manifest.key === key ? newest : null;
  }

  /** An empty folder for a job, and how many bytes it may put there. */
  async stage(jobId: PathPart): Promise<{ readonly files: string; readonly bytesMax: number }> {
    await mkdir(this.#folder, { mode: FOLDER_MODE }).catch(unlessThere);
    await eraseLeftovers(this.#folder, STAGED, this.#clock);
    const { bavail, bsize } = await statfs(this.#folder);
    const bytesMax = Math.min(KEPT_BYTES, Math.floor(bavail * bsize * PART_OF_FREE));
    const files = join(this.#staged(jobId), FILES);
    await mkdir(this.#staged(jobId), { mode: FOLDER_MODE });
    await mkdir(files, { mode: FOLDER_MODE });
    return { files, bytesMax };
  }

  /** Makes what was staged that of the workspace, and removes what it had and what is too much in all. */
  async settle(workspace: string, manifest: KeptManifest): Promise<void> {
    const ofWorkspace = this.#of(workspace);
    const jobId = jobIdPart(manifest.job_id);
    const staged = this.#staged(jobId);
    await mkdir(ofWorkspace, { mode: FOLDER_MODE }).catch(unlessThere);
    await writeFile(join(staged, MANIFEST), JSON.stringify(manifest), { mode: FILE_MODE });
    await rename(staged, entryPath(ofWorkspace, jobId));
    for (const old of (await this.#jobs(workspace)).slice(1)) await this.#discard(entryPath(ofWorkspace, old));
    await this.#removeOldest();
  }

  /** Removes what was staged of a job, if it is still there. */
  async unstage(jobId: PathPart): Promise<void> {
    await this.#discard(this.#staged(jobId));
  }

  /** Removes that of a workspace. */
  async remove(workspace: string): Promise<void> {
    await this.#discard(this.#of(workspace));
  }

  /** Removes those of workspaces that are not in this list, and what a crash left. The list is read only if needed. */
  async keepOnly(workspaces: () => Promise<readonly string[]>): Promise<void> {
    const names = await namesIn(this.#folder);
    if (names.length === 0) return;
    const known = new Set(await workspaces());
    for (const name of names) if (NAME.test(name) && !known.has(name)) await this.remove(name);
    await eraseLeftovers(this.#folder, STAGED, this.#clock);
  }

  async #removeOldest(): Promise<void> {
    const all: { readonly name: string; readonly at: number; readonly bytes: number }[] = [];
    for (const name of await this.#workspaces()) {
      const newest = await this.#newest(name);
      if (newest !== null) all.push({ name, at: newest.manifest.made_at, bytes: newest.manifest.bytes });
    }
    let sum = 0;
    for (const { name, bytes } of all.toSorted((a, b) => b.at - a.at)) {
      sum += bytes;
      if (sum > this.#totalBytes) await this.remove(name);
    }
  }

  async #newest(workspace: string): Promise<KeptInit | null> {
    const [newest] = await this.#jobs(workspace);
    if (newest === undefined) return null;
    const path = entryPath(this.#of(workspace), newest);
    const text = await readFile(join(path, MANIFEST), 'utf8').catch(() => '');
    const manifest = readManifest(text);
    return manifest === null ? null : { files: join(path, FILES), manifest };
  }

  async #workspaces(): Promise<string[]> {
    return (await namesIn(this.#folder)).filter((name) => NAME.test(name));
  }

  /** Newest first: the id of a job begins with its time. */
  async #jobs(workspace: string): Promise<PathPart[]> {
    const found = await namesIn(this.#of(workspace));
    return found.flatMap((name) => idPartIn('job', name) ?? []).toSorted((a, b) => (a < b ? 1 : -1));
  }

  #of(workspace: string): string {
    return entryPath(this.#folder, namePart('name of the workspace', workspace));
  }

  #staged(jobId: PathPart): string {
    return entryPath(this.#folder, affixed(STAGED, jobId));
  }

  #discard(path: string): Promise<void> {
    return discard(this.#folder, path, this.#clock);
  }
}

/** Null for what is no whole manifest: the machine may have lost its power while it was written. */
function readManifest(text: string): KeptManifest | null {
  try {
    const { key, digest, bytes, made_at: madeAt, job_id: jobId } = JSON.parse(text) as Partial<KeptManifest>;
    const isWhole =
      typeof key === 'string' &&
      (typeof digest === 'string' || digest === null) &&
      typeof bytes === 'number' &&
      typeof madeAt === 'number' &&
      typeof jobId === 'string';
    return isWhole ? { key, digest, bytes, made_at: madeAt, job_id: jobId } : null;
  } catch {
    return null;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
}

function unlessThere(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error;
}
