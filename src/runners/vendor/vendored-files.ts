import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, symlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { NAME } from '../../domain/name.ts';
import { affixed, entryPath, idPartIn, jobIdPart, namePart, type PathPart } from '../../domain/path-part.ts';
import { syncDirectory, writeFileAtomic } from '../../lib/atomic-file.ts';
import type { Clock } from '../../lib/clock.ts';
import { errorCode } from '../../lib/error-code.ts';
import { shareFolder } from '../run-files/outer-folder.ts';
import { discard, eraseLeftovers } from '../checkout/erase.ts';

/** Beside the run directories: where jobs have another account, that one can pass them and nothing of the service. */
const FOLDER = '.vendored';
/** The files of the newest jobs of a source that stay: a run that began earlier may still read them. */
const KEPT = 3;
const STAGED = '.staged-';
const MANIFEST = 'vendored.json';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const PROGRAM_MODE = 0o700;
/** Added where jobs have another account: its group, which is that of the folder, may read. */
const GROUP_READS = 0o040;
const GROUP_EXECUTES = 0o010;

/** What a job has fetched for a source. */
interface VendoredManifest {
  /** When the source was added: one that was removed and added again is another one. */
  readonly source_created_at: number;
  readonly job_id: string;
  readonly made_at: number;
  /** See Requirements. */
  readonly requirements: string;
  readonly collections: number;
  readonly roles: number;
  readonly providers: number;
}

/** The fetched files of a source, for a run to read where they are. */
export interface Vendored {
  readonly path: string;
  readonly manifest: VendoredManifest;
}

interface SourceId {
  readonly name: string;
  readonly created_at: number;
}

/**
 * The files that vendor jobs fetched: `<runs>/.vendored/<source>/<job>`. Each is made whole beside it and then renamed,
 * and renamed away before it is removed.
 */
export class VendoredFiles {
  readonly #folder: string;
  readonly #account: AccountIds | null;
  readonly #clock: Clock;

  /** `account` is the one of jobs; null is the account of this process. */
  constructor(runsDir: string, account: AccountIds | null, clock: Clock) {
    this.#folder = join(runsDir, FOLDER);
    this.#account = account;
    this.#clock = clock;
  }

  /** An empty folder for the files of a job. */
  async stage(jobId: PathPart): Promise<VendorTarget> {
    await this.#makeFolder(this.#folder);
    await eraseLeftovers(this.#folder, STAGED, this.#clock);
    const path = this.#staged(jobId);
    await mkdir(path, { mode: FOLDER_MODE });
    if (this.#account !== null) shareFolder(this.#account, path);
    return new VendorTarget(path, this.#account);
  }

  /** Makes the staged files those that later runs of the source use, and removes old ones. */
  async settle({ name }: SourceId, manifest: VendoredManifest): Promise<void> {
    const ofSource = this.#ofSource(name);
    const jobId = jobIdPart(manifest.job_id);
    const staged = this.#staged(jobId);
    await this.#makeFolder(ofSource);
    await writeFileAtomic(join(staged, MANIFEST), JSON.stringify(manifest), FILE_MODE);
    await rename(staged, entryPath(ofSource, jobId));
    await syncDirectory(ofSource);
    for (const old of (await this.#jobs(name)).slice(KEPT)) await this.#discard(entryPath(ofSource, old));
  }

  /** Removes the staged files of a job that did not end well. */
  unstage(jobId: PathPart): Promise<void> {
    return this.#discard(this.#staged(jobId));
  }

  /** The newest files; null if the source has none here. Throws unavailable for those of another account. */
  async find({ name, created_at: createdAt }: SourceId): Promise<Vendored | null> {
    const [newest] = await this.#jobs(name);
    if (newest === undefined) return null;
    const path = entryPath(this.#ofSource(name), newest);
    const manifest = JSON.parse(await readFile(join(path, MANIFEST), 'utf8')) as VendoredManifest;
    if (manifest.source_created_at !== createdAt) return null;
    const { gid } = await lstat(path);
    if (this.#account !== null && gid !== this.#account.gid)
      throw new Failure(
        'unavailable',
        `The vendored files of source ${name} are those of another account of jobs; fetch them again: ` +
          `svc vendor ${name}`,
      );
    return { path, manifest };
  }

  /** Removes all files of a source. */
  remove(name: string): Promise<void> {
    return this.#discard(this.#ofSource(name));
  }

  /** Removes the files of sources that are not in this list. */
  async keepOnly(names: ReadonlySet<string>): Promise<void> {
    const found = await readdir(this.#folder).catch(() => []);
    for (const name of found) if (NAME.test(name) && !names.has(name)) await this.remove(name);
  }

  #ofSource(name: string): string {
    return entryPath(this.#folder, namePart('name of the source', name));
  }

  #staged(jobId: PathPart): string {
    return entryPath(this.#folder, affixed(STAGED, jobId));
  }

  /** Newest first: the id of a job begins with its time. */
  async #jobs(name: string): Promise<PathPart[]> {
    const found = await readdir(this.#ofSource(name)).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    });
    return found.flatMap((each) => idPartIn('job', each) ?? []).toSorted((a, b) => (a < b ? 1 : -1));
  }

  /** The account of jobs can pass it, and not list it. */
  async #makeFolder(path: string): Promise<void> {
    await mkdir(path, { mode: FOLDER_MODE }).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    if (this.#account !== null) shareFolder(this.#account, path);
  }

  #discard(path: string): Promise<void> {
    return discard(this.#folder, path, this.#clock);
  }
}

/** Removes what is here of a source that was removed. */
export function removeOfSource(runsDir: string, name: string, clock: Clock): Promise<void> {
  return new VendoredFiles(runsDir, null, clock).remove(name);
}

/** A new folder of the service that nothing else writes; paths are relative to it. */
export class VendorTarget {
  readonly #path: string;
  readonly #account: AccountIds | null;

  constructor(path: string, account: AccountIds | null) {
    this.#path = path;
    this.#account = account;
  }

  async makeFolder(path: string): Promise<void> {
    const at = join(this.#path, path);
    await mkdir(at, { mode: FOLDER_MODE });
    if (this.#account !== null) shareFolder(this.#account, at, true);
  }

  /** For writing. The caller closes it. */
  async newFile(path: string, executable: boolean): Promise<FileHandle> {
    const { O_CREAT, O_EXCL, O_WRONLY } = constants;
    const mode = executable ? PROGRAM_MODE : FILE_MODE;
    const file = await open(join(this.#path, path), O_CREAT | O_EXCL | O_WRONLY, mode);
    if (this.#account !== null) await file.chmod(mode | GROUP_READS | (executable ? GROUP_EXECUTES : 0));
    return file;
  }

  makeLink(path: string, target: string): Promise<void> {
    return symlink(target, join(this.#path, path));
  }
}
