import type { StateCheckpoint, WorkspaceMaterials, WorkspaceSpec } from '../../domain/workspaces/workspace.ts';
import { type ProgramEnd, type ProgramOrder, requireSuccess, type RunJob, type RunTools } from '../runner.ts';
import { KeptOfRun } from './init/kept-run.ts';
import { makeRoot, type Root } from './root.ts';
import { placeState } from './state/brought-state.ts';
import { findTool, type Tool } from './tool.ts';

/** One run of the tool: what its steps share, and how a step runs a program. */

/** The file that belongs to the user's own command line is not ours, and the tool need not ask home for news. */
const ENVIRONMENT = { TF_IN_AUTOMATION: '1', TF_INPUT: '0', CHECKPOINT_DISABLE: '1' };

export const COMMON = ['-input=false', '-no-color'];

type Job = RunJob<WorkspaceSpec, WorkspaceMaterials>;
type Tools = RunTools<StateCheckpoint>;

/** What every step of one run needs. */
export interface Run {
  readonly job: Job;
  readonly tools: Tools;
  readonly tool: Tool;
  readonly materials: WorkspaceMaterials;
  readonly root: Root;
  /** The configuration of the tool itself. */
  readonly cliConfig: string;
  readonly kept: KeptOfRun;
}

export async function begin(job: Job, tools: Tools): Promise<Run> {
  const { materials } = job;
  const tool = await findTool(tools.searchPath);
  if (tool === null)
    throw new Error(
      'Neither terraform nor tofu is on the PATH of the daemon: install one, or start the daemon with it on its PATH.',
    );
  if (materials.aside !== null) {
    tools.say(
      `A state of an earlier run is set aside (version ${materials.aside}), and terraform does not know of what ` +
        'it contains: see "svc workspace state", and "svc workspace export" to restore it.',
    );
  }
  const root = await makeRoot(tools.runDir, materials, tools.signal);
  await placeState({ job, tools, root });
  const kept = new KeptOfRun({ job, tools, tool, root });
  return { job, tools, tool, materials, root, cliConfig: await cliConfigOf(materials, tools), kept };
}

/** With providers that were fetched for the source, these are the only ones: nothing is asked of a registry. */
async function cliConfigOf({ mirror }: WorkspaceMaterials, tools: Tools): Promise<string> {
  if (mirror === null) return '/dev/null';
  tools.say('Uses the providers that were fetched for this source, and no other ones.');
  // A name of a folder may hold what is a template in HCL.
  const path = JSON.stringify(mirror).replaceAll(/[$%](?=\{)/g, '$&$&');
  const text = `provider_installation {\n  filesystem_mirror {\n    path = ${path}\n  }\n}\n`;
  return tools.placeInput('terraform.rc', Buffer.from(text));
}

/** Runs the tool in the root. */
export function exec(
  { job, tools, tool, root, materials, cliConfig }: Run,
  words: readonly string[],
  more: Pick<ProgramOrder, 'captureBytes' | 'sifts'> = {},
): Promise<ProgramEnd> {
  const secrets = [...job.secrets].map(([name, value]) => [`TF_VAR_${name}`, value.toString('utf8')]);
  return tools.exec({
    argv: [tool.path, ...words],
    readable: materials.mirror === null ? [tool.path] : [tool.path, materials.mirror],
    connectPorts: 'any',
    // A provider is a separate process that terraform talks to by a unix socket.
    unixSockets: true,
    environment: { ...ENVIRONMENT, TF_CLI_CONFIG_FILE: cliConfig, ...Object.fromEntries(secrets) },
    folder: root.folder,
    ...more,
  });
}

/** The same for a step without which the run can't go on. */
export async function must(run: Run, words: readonly string[], captureBytes?: number): Promise<ProgramEnd> {
  return requireSuccess(await exec(run, words, captureBytes === undefined ? {} : { captureBytes }));
}
