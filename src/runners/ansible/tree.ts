import { join } from 'node:path';
import type { Tree } from '../../domain/sources/directory.ts';
import { PLUGIN_FOLDERS } from '../checkout/plugin-folders.ts';
import { copyIntoRun, TREE } from '../checkout/run-tree.ts';
import { resolveRunFile } from '../run-files/run-files.ts';

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
  const without = plugins ? {} : { without: PLUGIN_FOLDERS };
  const { leftOut } = await copyIntoRun(runDir, { tree, fromSource, ...without }, signal);
  const path = await resolveRunFile(runDir, `${TREE}/${playbook}`);
  if (path?.startsWith(`${TREE}/`) !== true) throw new Error(`There is no playbook ${playbook} in these files.`);
  const config = await resolveRunFile(runDir, `${TREE}/ansible.cfg`);
  return { playbook: join(runDir, TREE, playbook), leftOut, hasConfig: config !== null };
}

interface TreeOrder {
  readonly tree: Tree;
  readonly fromSource: boolean;
  /** Whether the operator allowed the plugins of the tree. */
  readonly plugins: boolean;
  readonly playbook: string;
}
