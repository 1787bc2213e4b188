import { lstat, mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceMaterials } from '../../domain/workspace.ts';
import { isWithin } from '../../lib/within.ts';
import { copyTree, COPY_LIMITS } from '../checkout/copy-tree.ts';
import { findHooksFile } from '../checkout/hooks-file.ts';
import { readWhole, STATE_FILE } from './state-file.ts';

/** The copy of the tree, below the run directory. */
export const TREE = 'tree';
/** What terraform notes about the backend it was initialised with. */
const BACKEND_NOTE_MAX_BYTES = 1024 * 1024;

/** The private copy that a run works in. */
export interface Root {
  /** Of the root module: relative to the run directory, and absolute. */
  readonly folder: string;
  readonly path: string;
  readonly treeDigest: string;
}

/** Takes the copy and puts the state that the service keeps into it. Rejects with an Error whose message says why not. */
export async function makeRoot(runDir: string, materials: WorkspaceMaterials, signal: AbortSignal): Promise<Root> {
  const tree = join(runDir, TREE);
  await mkdir(tree, { mode: 0o700 });
  const { digest } = await copyTree(materials.tree, tree, COPY_LIMITS, signal);
  await refuseHooks(tree, materials);
  const folder = materials.root === '' ? TREE : `${TREE}/${materials.root}`;
  const path = join(runDir, folder);
  await refuseElsewhere(runDir, path, materials.root);
  if (materials.state !== null) await writeFile(join(path, STATE_FILE), materials.state, { mode: 0o600 });
  return { folder, path, treeDigest: digest };
}

/** Looked for in the very files that would run: a source may have got its hooks after the run was asked for. */
async function refuseHooks(tree: string, { fromSource }: WorkspaceMaterials): Promise<void> {
  const file = fromSource ? await findHooksFile(tree) : null;
  if (file !== null) throw new Error(`The source declares lifecycle hooks (${file}), which are not run here: a run without them is refused.`);
}

async function refuseElsewhere(runDir: string, path: string, root: string): Promise<void> {
  const real = await realpath(path).catch(() => null);
  const stats = real === null ? null : await lstat(real);
  if (real === null || stats?.isDirectory() !== true) throw new Error(`There is no folder ${root} in these files.`);
  if (!isWithin(real, await realpath(runDir))) throw new Error(`The folder ${root} leads out of these files.`);
}

/** Whether an `init` left something that later steps need: providers, modules, a backend. */
export async function wasInitialised(root: Root): Promise<boolean> {
  return (await lstat(join(root.path, '.terraform')).catch(() => null)) !== null;
}

/** The type of the backend that the root was initialised with; null without one. `cloud` counts as one. */
export async function backendOf(root: Pick<Root, 'path'>): Promise<string | null> {
  const note = join(root.path, '.terraform', STATE_FILE);
  if ((await lstat(note).catch(() => null)) === null) return null;
  const json = JSON.parse((await readWhole(note, BACKEND_NOTE_MAX_BYTES)).toString('utf8')) as { backend?: { type?: unknown } };
  const type = json.backend?.type;
  return typeof type === 'string' ? type : null;
}
