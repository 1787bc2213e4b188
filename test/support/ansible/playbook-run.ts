/** Runs of the playbook runner with the real launch and sandbox, and without a store. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlaybookSpec } from '../../../src/domain/playbooks/playbook.ts';
import type { PlaybookResults } from '../../../src/domain/playbooks/results.ts';
import { LOCALHOST_INVENTORY } from '../../../src/domain/inventories/inventory.ts';
import { INVENTORY_FILE, renderInventory } from '../../../src/domain/inventories/render.ts';
import type { JobProgress } from '../../../src/domain/jobs/job.ts';
import { decodeChunk } from '../../../src/lib/chunks/chunk.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { jobIdPart } from '../../../src/domain/path-part.ts';
import { newId } from '../../../src/lib/id.ts';
import { ansibleRunner } from '../../../src/runners/ansible/ansible.ts';
import type { PlaybookMaterials } from '../../../src/runners/ansible/inputs.ts';
import { createLauncher } from '../../../src/runners/launch/launch.ts';
import type { RecordedChunk } from '../../../src/runners/output/chunk-queue.ts';
import { createGuard } from '../../../src/runners/process/guard.ts';
import { runJob } from '../../../src/runners/run.ts';
import type { RunOutcome } from '../../../src/runners/runner.ts';
import { NO_BOUNDS } from '../bounds/no-bounds.ts';
import { writeTree } from './bare-run.ts';

export const SPEC: PlaybookSpec = {
  playbook: 'site.yml',
  source: 'ops',
  dir: null,
  inventory: 'localhost',
  limit: null,
  tags: [],
  skipTags: [],
  check: false,
  diff: false,
  extraVars: {},
  tolerateUnreachable: false,
  egressPorts: [],
  runSecrets: {},
  vaultProject: null,
};

export interface PlaybookRun {
  readonly outcome: RunOutcome<PlaybookResults>;
  /** Lines of the log, with the stream before each. */
  readonly lines: readonly string[];
  readonly progress: readonly JobProgress[];
  readonly text: string;
}

interface RunOptions {
  readonly spec?: Partial<PlaybookSpec>;
  readonly materials?: Partial<PlaybookMaterials>;
  readonly secrets?: ReadonlyMap<string, Buffer>;
  readonly hidden?: readonly Buffer[];
  readonly timeoutMs?: number;
  readonly privileged?: boolean;
  readonly signal?: AbortSignal;
  readonly searchPath?: string;
  /** Called with what is stored of the progress. */
  onProgress?(progress: JobProgress): void;
}

/** Where runs of a test happen: as root they run as an account without privileges. */
export class PlaybookRuns {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-playbook-')));
  readonly tree = join(this.dir, 'source');
  readonly #runs = join(this.dir, 'runs');
  readonly #guard = createGuard({ clock: systemClock });
  readonly #account = process.getuid?.() === 0 ? { name: 'gatehouse-test', uid: 65_534, gid: 65_534 } : null;

  constructor() {
    chmodSync(this.dir, 0o711);
    mkdirSync(this.#runs, { mode: 0o711 });
    mkdirSync(this.tree);
  }

  /** Writes the files of the source, and runs its playbook. */
  async run(files: Readonly<Record<string, string>>, options: RunOptions = {}): Promise<PlaybookRun> {
    writeTree(this.tree, files);
    const chunks: RecordedChunk[] = [];
    const job = {
      id: jobIdPart(newId('job', systemClock.now())),
      kind: 'playbook' as const,
      spec: { ...SPEC, ...options.spec },
      privileged: options.privileged ?? false,
      timeoutMs: options.timeoutMs ?? 120_000,
      secrets: options.secrets ?? new Map<string, Buffer>(),
      hidden: options.hidden ?? [],
      materials: {
        tree: this.tree,
        plugins: false,
        dependencies: null,
        inventory: { file: INVENTORY_FILE, text: renderInventory(LOCALHOST_INVENTORY) },
        hosts: null,
        knownHosts: '',
        sshPorts: [],
        forks: 7,
        sshKey: null,
        vault: [],
        ...options.materials,
      },
    };
    const { outcome, lastChunk } = await runJob(
      {
        clock: systemClock,
        launcher: createLauncher(),
        guard: this.#guard,
        bounds: NO_BOUNDS,
        sharedMemory: null,
        runsDir: this.#runs,
        hiddenFolders: [],
        account: this.#account,
        path: options.searchPath ?? process.env['PATH'] ?? '',
        lang: 'C.UTF-8',
      },
      ansibleRunner,
      job,
      {
        firstSeq: 1,
        takeChild: () => null,
        leader: () => Promise.resolve(),
        write(chunk) {
          chunks.push(chunk);
          if (chunk.progress !== undefined) options.onProgress?.(chunk.progress);
          return Promise.resolve();
        },
        partial: () => Promise.resolve(),
        checkpoint: () => Promise.resolve(),
      },
      options.signal ?? new AbortController().signal,
    );
    if (lastChunk !== null) chunks.push(lastChunk);
    const events = chunks.flatMap(({ data }) => decodeChunk(data, { after: 0, limit: 100_000 }));
    const lines = events.flatMap((event) => (event.type === 'log' ? [`${event.stream}: ${event.text}`] : []));
    const progress = events.flatMap((event) =>
      event.type === 'progress' ? [{ play: event.play, task: event.task }] : [],
    );
    return { outcome, lines, progress, text: lines.join('\n') };
  }

  /** A folder beside the runs that the account of jobs could write, if the sandbox let it. */
  openFolder(name: string): string {
    const path = join(this.dir, name);
    mkdirSync(path, { mode: 0o700 });
    if (this.#account !== null) chownSync(path, this.#account.uid, this.#account.gid);
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#guard.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
