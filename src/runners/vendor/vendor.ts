import { join } from 'node:path';
import { formatSize } from '../../domain/size.ts';
import type { Tree } from '../../domain/sources/directory.ts';
import type { VendorSpec } from '../../domain/vendor/vendor.ts';
import { findAnsible } from '../ansible/tool.ts';
import { makeRunFolder, openRunFolder, resolveRunFolder } from '../run-files/run-files.ts';
import {
  outcomeOfError,
  type ProgramOrder,
  requireSuccess,
  type Runner,
  type RunJob,
  type RunTools,
} from '../runner.ts';
import { findTool } from '../terraform/tool.ts';
import { leftOutLine } from '../checkout/plugin-folders.ts';
import { copyIntoRun, TREE } from '../checkout/run-tree.ts';
import { collect, type Collected, VENDORED_FOLDERS } from './collect.ts';
import { galaxyEnvironment, galaxyOrders } from './galaxy.ts';
import { readRequirements, REQUIREMENT_FILES, type Requirements } from './requirements.ts';
import { watchSize } from './size-watch.ts';
import type { VendorTarget } from './vendored-files.ts';

interface VendorMaterials {
  readonly tree: Tree;
  /** Whether the operator allowed plugins of the source. */
  readonly plugins: boolean;
  /** Folders of the tree that workspaces use as roots; empty is the tree itself. */
  readonly roots: readonly string[];
  /** Makes the folder that the files are put into. */
  stage(): Promise<VendorTarget>;
  /** Makes them those of later runs. Rejects where the source is gone. */
  settle(result: VendorResult): Promise<void>;
}

/** What is in the staged folder. */
export interface VendorResult extends Collected {
  readonly requirements: string;
}

type Job = RunJob<VendorSpec, VendorMaterials>;
type Tools = RunTools<never>;

/** What the tools write, beside the copy of the tree. */
const MADE = 'made';
const TERRAFORM = { TF_IN_AUTOMATION: '1', TF_INPUT: '0', CHECKPOINT_DISABLE: '1', TF_CLI_CONFIG_FILE: '/dev/null' };

/**
 * Fetches what a source declares: collections and roles with ansible-galaxy, providers with terraform. Their files are
 * of strangers; what later runs use is a copy that no job can change.
 */
export const vendorRunner: Runner<VendorSpec, VendorMaterials, never, VendorResult> = {
  clearFiles: [],
  async run(job, tools) {
    try {
      return { state: 'succeeded', exitCode: 0, result: await vendor(job, tools) };
    } catch (error) {
      return outcomeOfError(error, tools);
    }
  },
};

async function vendor({ materials, spec }: Job, tools: Tools): Promise<VendorResult> {
  const { runDir, signal } = tools;
  await copyIntoRun(runDir, { tree: materials.tree, fromSource: true }, signal);
  const requirements = await readRequirements(runDir, TREE);
  requireSome(requirements, materials.roots, spec);
  for (const folder of ['', ...VENDORED_FOLDERS])
    await makeRunFolder(runDir, folder === '' ? MADE : `${MADE}/${folder}`);
  const made = join(runDir, MADE);
  await runGalaxy(requirements, made, tools);
  await runTerraform(materials.roots, made, tools);
  await using folder = await openRunFolder(runDir, MADE);
  const target = await materials.stage();
  const collected = await collect(folder, target, { plugins: materials.plugins, signal });
  const result = { ...collected, requirements: requirements.digest };
  await materials.settle(result);
  sayCollected(collected, tools);
  return result;
}

function requireSome({ collections, roles }: Requirements, roots: readonly string[], { source }: VendorSpec): void {
  if (collections.length + roles.length + roots.length > 0) return;
  throw new Error(
    `Source ${source} declares nothing to fetch. Expected collections or roles in ${REQUIREMENT_FILES.join(', ')}` +
      ', or a workspace that uses the source.',
  );
}

async function runGalaxy(requirements: Requirements, made: string, tools: Tools): Promise<void> {
  if (requirements.collections.length + requirements.roles.length === 0) return;
  const tool = await findAnsible('ansible-galaxy', tools.searchPath, tools.runDir);
  if (tool === null)
    throw new Error(
      'ansible-galaxy is not on the PATH of the daemon: install ansible-core, or start the daemon with it on its PATH.',
    );
  const environment = await galaxyEnvironment(made, tools);
  for (const words of await galaxyOrders(requirements, made, tools)) {
    await must(tools, {
      argv: [tool.path, ...words],
      readable: tool.readable,
      connectPorts: 'any',
      sharedMemory: true,
      environment,
    });
  }
}

/** The providers of each root, with the versions of its lock file if it has one. */
async function runTerraform(roots: readonly string[], made: string, tools: Tools): Promise<void> {
  if (roots.length === 0) return;
  const tool = await findTool(tools.searchPath);
  if (tool === null) throw new Error('Neither terraform nor tofu is on the PATH of the daemon: install one.');
  const platform = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const common = { readable: [tool.path], connectPorts: 'any', environment: TERRAFORM } as const;
  for (const root of roots) {
    const folder = await resolveRunFolder(tools.runDir, `${TREE}/${root}`).catch(() => null);
    if (folder === null) throw new Error(`There is no folder ${root} in the source, which a workspace uses.`);
    // Modules name providers too.
    await must(tools, { ...common, folder, argv: [tool.path, 'get', '-no-color'] });
    const words = ['providers', 'mirror', `-platform=${platform}`, join(made, 'providers')];
    await must(tools, { ...common, folder, argv: [tool.path, ...words] });
  }
}

/** Runs a program, and stops it when the run directory becomes too large. */
async function must(tools: Tools, order: ProgramOrder): Promise<void> {
  await using watch = watchSize(tools.runDir, tools.clock);
  const end = await tools.exec({ ...order, stop: watch.signal });
  watch.signal.throwIfAborted();
  requireSuccess(end);
}

function sayCollected({ files, bytes, leftOut, ...found }: Collected, tools: Tools): void {
  const { collections, roles, providers } = found;
  const names = [...collections, ...roles].join(', ');
  tools.say(
    `Fetched ${collections.length} collections, ${roles.length} roles and ${providers} archives of providers (` +
      `${files} files, ${formatSize(bytes)})${names === '' ? '.' : `: ${names}.`}`,
  );
  if (leftOut.length > 0) tools.say(leftOutLine(leftOut, 'add the source with --plugins and fetch again'));
}
