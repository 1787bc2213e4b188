import type { WorkspaceMaterials } from '../../domain/workspaces/workspace.ts';
import { errorCode } from '../../lib/error-code.ts';
import { copyIntoRun, TREE } from '../checkout/run-tree.ts';
import { hasRunEntry, listRunFolder, NoRunFolder, readRunFile, resolveRunFolder } from '../run-files/run-files.ts';
import { STATE_FILE, type StatePlace } from './state-file.ts';

/** What terraform notes about the backend it was initialised with. */
const BACKEND_NOTE_MAX_BYTES = 1024 * 1024;

/** Files of a root that are searched for its backend, and how long each may be. */
const FILES_MAX = 200;
const FILE_MAX_BYTES = 1024 * 1024;

/** The private copy that a run works in. */
export interface Root extends StatePlace {
  readonly treeDigest: string;
}

/** Copies the tree, with the state that is in it. Rejects with an Error whose message has the reason. */
export async function makeRoot(runDir: string, materials: WorkspaceMaterials, signal: AbortSignal): Promise<Root> {
  const { digest } = await copyIntoRun(runDir, materials, signal);
  const folder = await folderOf(runDir, materials.root);
  return { runDir, folder, treeDigest: digest };
}

async function folderOf(runDir: string, root: string): Promise<string> {
  try {
    return await resolveRunFolder(runDir, `${TREE}/${root}`);
  } catch (error) {
    if (!(error instanceof NoRunFolder)) throw error;
    throw new Error(
      error.isOutside ? `The folder ${root} leads out of these files.` : `There is no folder ${root} in these files.`,
      { cause: error },
    );
  }
}

/** Whether an `init` left something that later steps need: providers, modules, a backend. */
export function wasInitialised({ runDir, folder }: StatePlace): Promise<boolean> {
  return hasRunEntry(runDir, `${folder}/.terraform`);
}

/** Whether a file of the root has a block for the backend `local`. */
export async function hasLocalBackend({ runDir, folder }: StatePlace): Promise<boolean> {
  const names = await listRunFolder(runDir, folder);
  for (const name of names.filter((each) => /\.(?:tf|tofu)$/.test(each)).slice(0, FILES_MAX)) {
    const file = await readRunFile(runDir, `${folder}/${name}`, FILE_MAX_BYTES).catch(() => null);
    if (file !== null && /^[ \t]*backend[ \t]+"local"/m.test(file.toString())) return true;
  }
  return false;
}

/** The type of the backend that the root was initialised with; null without one. `cloud` counts as one. */
export async function backendOf({ runDir, folder }: StatePlace): Promise<string | null> {
  const note = await readRunFile(runDir, `${folder}/.terraform/${STATE_FILE}`, BACKEND_NOTE_MAX_BYTES).catch(
    nullIfMissing,
  );
  if (note === null) return null;
  const json = JSON.parse(note.toString('utf8')) as { backend?: { type?: unknown } };
  const type = json.backend?.type;
  return typeof type === 'string' ? type : null;
}

function nullIfMissing(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}
