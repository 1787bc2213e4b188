import { join } from 'node:path';
import { openCopyTarget } from '../checkout/copy-target.ts';
import { copyTree, COPY_LIMITS } from '../checkout/copy-tree.ts';
import { refuseHooks } from '../checkout/hooks-file.ts';
import { PLUGIN_FOLDERS } from '../checkout/plugin-folders.ts';
import { makeRunFolder, resolveRunFile } from '../run-files/run-files.ts';

/** The copy of the tree, below the run directory. */
export const TREE = 'tree';

const NOTHING: ReadonlySet<string> = new Set();

interface PlaybookTree {
  /** The absolute path of the playbook in the copy. */
  readonly playbook: string;
  /** The plugin folders that were left out, as paths in the tree. */
  readonly leftOut: readonly string[];
  /** Whether the tree has a configuration, which is not used. */
  readonly hasConfig: boolean;
}

/** Copies the tree into the run. Rejects with an Error whose message has the reason. */
export async function makeTree(
  runDir: string,
  { tree, fromSource, plugins, playbook }: TreeOrder,
  signal: AbortSignal,
): Promise<PlaybookTree> {
  await makeRunFolder(runDir, TREE);
  await using target = await openCopyTarget(runDir, TREE);
  const { leftOut } = await copyTree(tree, target, COPY_LIMITS, signal, plugins ? NOTHING : PLUGIN_FOLDERS);
  // Looked for in the very files that would run: a source may have got its hooks after the run was asked for.
  if (fromSource) await refuseHooks(runDir, TREE);
  const path = await resolveRunFile(runDir, `${TREE}/${playbook}`);
  if (path?.startsWith(`${TREE}/`) !== true) throw new Error(`There is no playbook ${playbook} in these files.`);
  const config = await resolveRunFile(runDir, `${TREE}/ansible.cfg`);
  return { playbook: join(runDir, TREE, playbook), leftOut, hasConfig: config !== null };
}

interface TreeOrder {
  readonly tree: string;
  readonly fromSource: boolean;
  /** Whether the operator allowed the plugins of the tree. */
  readonly plugins: boolean;
  readonly playbook: string;
}
