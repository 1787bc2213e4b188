import { STATE_MAX_BYTES } from '../../../domain/workspaces/state.ts';
import {
  isStateOf,
  type NotedPosition,
  type State,
  type StateCheckpoint,
  type WorkspaceMaterials,
  type WorkspaceSpec,
} from '../../../domain/workspaces/workspace.ts';
import { errorCode } from '../../../lib/error-code.ts';
import { readRunFile, writeRunFile } from '../../run-files/run-files.ts';
import type { RunJob, RunTools } from '../../runner.ts';
import { readState, STATE_FILE, type StatePlace } from '../state-file.ts';
import { readStateBytes } from './state-reader.ts';

/**
 * The state that the files of a run bring, as those of a root that was applied without the service. It is read once,
 * by the first run: what is read is stored before anything is made from it, and later runs start from what is stored.
 */

interface Placed {
  readonly job: Pick<RunJob<WorkspaceSpec, WorkspaceMaterials>, 'spec' | 'materials'>;
  readonly tools: Pick<RunTools<StateCheckpoint>, 'checkpoint' | 'say'>;
  readonly root: StatePlace;
}

/** Puts the stored state in place. Throws, before any program, for one that is noted and neither stored nor brought. */
export async function placeState({ job, tools, root }: Placed): Promise<void> {
  const { state, noted } = job.materials;
  const { workspace } = job.spec;
  const brought = noted === null ? null : await readState(root);
  if (state !== null) {
    if (noted !== null && brought !== null && isNotBehind(brought, noted))
      tools.say(unused(workspace, brought, noted), false);
    return writeRunFile(root.runDir, `${root.folder}/${STATE_FILE}`, state);
  }
  if (noted === null || (brought !== null && isStateOf(noted, brought))) return;
  const found = brought === null ? `no ${STATE_FILE}` : `another state in ${STATE_FILE}, ${named(brought)}`;
  throw new Error(
    `Integrity: the newest state of ${workspace}, serial ${noted.serial}, is not there: no version is stored, and ` +
      `the files have ${found}. Continue from a file: svc workspace restore ${workspace} --file PATH. Nothing was run.`,
  );
}

/** Stores the state that the files bring, where the service stores none. Throws for one that it cannot read. */
export async function keepBrought({ job, tools, root }: Placed, ownBackend: boolean): Promise<void> {
  if (ownBackend || job.materials.state !== null) return;
  const state = await readBrought(root);
  if (state === null) return;
  await tools.checkpoint({ state, as: 'brought' });
  tools.say(
    `The state in ${STATE_FILE} of these files, ${named(state)}, is stored. Later runs start from the stored state, ` +
      'not from that file.',
    false,
  );
}

/** Null without one. The tool takes an empty file for none. */
async function readBrought({ runDir, folder }: StatePlace): Promise<State | null> {
  const bytes = await readRunFile(runDir, `${folder}/${STATE_FILE}`, STATE_MAX_BYTES).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw unreadable();
  });
  if (bytes.length === 0) return null;
  const state = await readStateBytes(bytes);
  if (state === null) throw unreadable();
  return state;
}

/** What the tool would make from it could not be stored either. */
function unreadable(): Error {
  return new Error(
    `${STATE_FILE} of these files cannot be read as a state: expected JSON with serial and lineage, of at most ` +
      `${STATE_MAX_BYTES / (1024 * 1024)} MiB. Replace the file, or remove it if nothing was made from it. ` +
      'Nothing was run.',
  );
}

function isNotBehind(brought: State, noted: NotedPosition): boolean {
  return brought.lineage !== noted.lineage || brought.serial > noted.serial;
}

function unused(workspace: string, brought: State, noted: NotedPosition): string {
  const isOther = brought.lineage !== noted.lineage;
  const what = isOther ? 'another lineage' : `serial ${brought.serial}`;
  return (
    `${STATE_FILE} of these files is not used: it has ${what}, and the service continues from its stored state, ` +
    `serial ${noted.serial}. To continue from the file: ` +
    `svc workspace restore ${workspace} --file PATH${isOther ? ' --force' : ''}`
  );
}

function named({ serial, resources }: State): string {
  return `serial ${serial} with ${resources} ${resources === 1 ? 'resource' : 'resources'}`;
}
