import type { Tree } from '../../domain/sources/directory.ts';
import { makeRunFolder } from '../run-files/run-files.ts';
import { openCopyTarget } from './copy-target.ts';
import { type CopiedTree, copyTree } from './copy-tree.ts';
import { refuseHooks } from './hooks-file.ts';

/** The copy of the tree, below the run directory. */
export const TREE = 'tree';

interface TreeOrder {
  readonly tree: Tree;
  readonly fromSource: boolean;
  /** Names of entries that are not copied. */
  readonly without?: ReadonlySet<string>;
}

/** Copies the files of a source or a directory into a run. Rejects with an Error whose message has the reason. */
export async function copyIntoRun(
  runDir: string,
  { tree, fromSource, without }: TreeOrder,
  signal: AbortSignal,
): Promise<CopiedTree> {
  await makeRunFolder(runDir, TREE);
  await using target = await openCopyTarget(runDir, TREE);
  const copied = await copyTree(tree, target, { signal, without });
  // The copy itself is compared: what changes after it is in no run.
  if (tree.approved !== undefined && copied.wholeDigest !== tree.approved.digest) throw new Error(tree.approved.change);
  // Looked for in the very files that would run: a source may have got its hooks after the run was asked for.
  if (fromSource) await refuseHooks(runDir, TREE);
  return copied;
}
