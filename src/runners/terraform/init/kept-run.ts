import { hash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { STATE_MAX_BYTES } from '../../../domain/workspaces/state.ts';
import type { WorkspaceMaterials } from '../../../domain/workspaces/workspace.ts';
import { rfc3339 } from '../../../lib/clock.ts';
import { errorCode } from '../../../lib/error-code.ts';
import { openCopyTarget, OwnTarget } from '../../checkout/copy-target.ts';
import { copyWhole } from '../../checkout/copy-whole.ts';
import { openRunDir } from '../../run-files/open-run-dir.ts';
import { openOwnFolder } from '../../run-files/own-folder.ts';
import { TreeRemoval } from '../../run-files/remove-tree.ts';
import { hasRunEntry, makeRunFolder, openRunFolder, readRunFile } from '../../run-files/run-files.ts';
import type { RunJob, RunTools } from '../../runner.ts';
import type { Root } from '../root.ts';
import { STATE_FILE } from '../state-file.ts';
import type { Tool } from '../tool.ts';
import { KeptInits } from './kept-inits.ts';
import { providersIn } from './providers-in.ts';

/** Part of the key: a program with other rules uses nothing that this one has kept. */
const FORMAT = 1;
/** What `init` leaves below the root. */
const DATA = '.terraform';
/** Packages of providers, below it. */
const PROVIDERS = 'providers/';
const LOCK_FILE = '.terraform.lock.hcl';
/** A lock file of ten providers has 20 kB. */
const LOCK_FILE_MAX_BYTES = 1024 * 1024;
/** Ten modules that were fetched with git have some thousands of files. */
const LIMITS = { files: 20_000, depth: 64 };
/** Below the run directory: a copy that is not whole yet never has the name that terraform looks for. */
const PART = 'kept-init';
/** What was copied in vain is removed within this time, in milliseconds; else with the directory of the run. */
const REMOVE_WITHIN_MS = 10_000;

/** What the kept init of a run is about. */
interface About {
  readonly job: Pick<RunJob<unknown, unknown>, 'id' | 'secrets' | 'hidden' | 'privileged'> & {
    readonly materials: Pick<WorkspaceMaterials, 'kept' | 'mirror' | 'state'>;
  };
  readonly tools: Pick<RunTools<never>, 'runDir' | 'clock' | 'signal' | 'say' | 'redact'>;
  readonly tool: Tool;
  readonly root: Root;
}

/** What an init begins with. */
interface Described {
  /** Of all that it depends on. */
  readonly key: string;
  readonly lock: string | null;
}

/**
 * The `init` of one run: left out where the last one of the workspace depended on the same things. Only the service
 * reads and writes what is kept, and nothing of it is used before a copy has the digest that was taken when no program
 * but `init` had run.
 */
export class KeptOfRun {
  readonly #about: About;
  readonly #inits: KeptInits;
  /** Before the init; null where nothing can be kept. */
  #before: Described | null = null;
  #isUsed = false;

  constructor(about: About, inits = new KeptInits(about.job.materials.kept.folder, about.tools.clock)) {
    this.#about = about;
    this.#inits = inits;
  }

  /** Puts a copy of what the last init left in place. False where this run has to call `init`. */
  async restore(): Promise<boolean> {
    const { tools, tool } = this.#about;
    try {
      this.#before = await describe(this.#about);
      const kept = this.#before === null ? null : await this.#inits.find(this.#workspace, this.#before.key);
      if (kept === null) return false;
      const { digest, job_id: jobId, made_at: madeAt } = kept.manifest;
      if (digest !== null) await this.#copyBack(kept.files, digest);
      this.#isUsed = true;
      tools.say(
        `${tool.name} init is left out: nothing that it depends on has changed since ${jobId} ran it at ` +
          `${rfc3339(madeAt)}.`,
      );
      return true;
    } catch (error) {
      tools.signal.throwIfAborted();
      tools.say(`What is kept of the last init cannot be used, so init runs: ${reasonOf(error)}.`);
      await this.#inits.remove(this.#workspace).catch(() => undefined);
      await this.#removePart();
      return false;
    }
  }

  /** After an init and before any other program: keeps what it left. An error is said, and changes nothing else. */
  async keep(): Promise<void> {
    if (this.#isUsed || this.#before === null) return;
    const { job, tools, root } = this.#about;
    try {
      if ((await lockOf(root)) !== this.#before.lock) {
        tools.say(
          `Init runs again in the next run, because it changed ${LOCK_FILE}: commit that file with the hashes for ` +
            'this platform.',
        );
        return;
      }
      await this.#stageAndSettle(this.#before.key);
    } catch (error) {
      tools.signal.throwIfAborted();
      tools.say(`Init runs again in the next run, because what it left is not kept: ${reasonOf(error)}.`);
    } finally {
      await this.#inits.unstage(job.id).catch(() => undefined);
    }
  }

  /** The run failed: what was kept may be why, so the next run calls `init`. */
  async drop(): Promise<void> {
    if (this.#isUsed) await this.#inits.remove(this.#workspace).catch(() => undefined);
  }

  async #stageAndSettle(key: string): Promise<void> {
    const { job, tools, root } = this.#about;
    const { files, bytesMax } = await this.#inits.stage(job.id);
    const about = { key, made_at: tools.clock.now(), job_id: job.id };
    if (!(await hasRunEntry(root.runDir, `${root.folder}/${DATA}`)))
      return this.#inits.settle(this.#workspace, { ...about, digest: null, bytes: 0 });
    await using from = await openRunFolder(root.runDir, `${root.folder}/${DATA}`);
    const limits = { ...LIMITS, bytes: bytesMax };
    const copied = await copyWhole(from, new OwnTarget(files), { limits, signal: tools.signal, look: this.#look() });
    await this.#inits.settle(this.#workspace, { ...about, ...copied });
  }

  /**
   * A tool that takes variables in the source of a module or in a backend writes their values beside the packages, into
   * small files. What must not be in the output of the job is not kept in clear either.
   */
  #look(): (path: string, bytes: Buffer) => void {
    const { job, tools } = this.#about;
    if (job.secrets.size === 0 && job.hidden.length === 0) return () => undefined;
    return (path, bytes) => {
      if (path.startsWith(PROVIDERS)) return;
      const text = bytes.toString('utf8');
      if (tools.redact(text) !== text) throw new Error('it contains a secret');
    };
  }

  async #copyBack(files: string, digest: string): Promise<void> {
    const { tools, root } = this.#about;
    await makeRunFolder(tools.runDir, PART);
    await using from = await openOwnFolder(files);
    await using target = await openCopyTarget(tools.runDir, PART);
    const limits = { ...LIMITS, bytes: Number.POSITIVE_INFINITY };
    const copied = await copyWhole(from, target, { limits, signal: tools.signal });
    if (copied.digest !== digest) throw new Error('its files are not those that init left');
    await using run = await openRunDir(tools.runDir);
    await using folder = await openRunFolder(tools.runDir, root.folder);
    await run.move(PART, folder, DATA);
  }

  /** It may have filled the disk, and init needs room. */
  async #removePart(): Promise<void> {
    const { clock, runDir } = this.#about.tools;
    const until = clock.monotonic() + REMOVE_WITHIN_MS;
    try {
      await using part = await openRunFolder(runDir, PART);
      await new TreeRemoval(part, () => clock.monotonic() >= until).empty();
    } catch {
      // It is removed with the directory of the run.
    }
  }

  get #workspace(): string {
    return this.#about.job.materials.kept.workspace;
  }
}

/** Null where it cannot be said, as with a lock file that is a link: then init runs each time. */
async function describe(about: About): Promise<Described | null> {
  return Promise.all([keyOf(about), lockOf(about.root)]).then(
    ([key, lock]) => ({ key, lock }),
    () => null,
  );
}

/**
 * All that `init` depends on, as one digest: the files, and with them the lock file, the modules, the backend and the
 * version of the tool that they ask for; the tool itself; the providers that were fetched for the source; those that
 * the state needs; which secrets are variables, and their versions, for a tool that takes variables in the source of a
 * module. The environment is the same for every run, and init gets no other variables. Of a backend only its settings
 * are known, which are in the files.
 */
async function keyOf({ job, tool, root }: About): Promise<string> {
  const { materials, privileged } = job;
  const { size, mtimeNs, ctimeNs } = await stat(tool.path, { bigint: true });
  const state =
    materials.state ??
    (await readRunFile(root.runDir, `${root.folder}/${STATE_FILE}`, STATE_MAX_BYTES).catch(nullIfMissing));
  const facts = [
    [FORMAT, materials.kept.facts],
    [root.treeDigest, root.folder],
    [tool.name, tool.path, size, mtimeNs, ctimeNs].map(String),
    [materials.mirror, state === null ? [] : providersIn(state)],
    // A run outside of the sandbox may get what others cannot reach.
    privileged,
  ];
  return hash('sha256', JSON.stringify(facts));
}

/** The digest of the lock file; null without one. */
async function lockOf({ runDir, folder }: Root): Promise<string | null> {
  const file = await readRunFile(runDir, `${folder}/${LOCK_FILE}`, LOCK_FILE_MAX_BYTES).catch(nullIfMissing);
  return file === null ? null : hash('sha256', file);
}

function nullIfMissing(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}

/** The message of a system's error has a path of the service. */
function reasonOf(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.message : 'unknown error');
}
