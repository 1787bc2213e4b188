import { SSH_PORT } from '../../domain/inventories/connection.ts';
import { LOCALHOST } from '../../domain/inventories/inventory.ts';
import { closedPorts } from '../../domain/playbooks/closed-ports.ts';
import type { PlaybookSpec } from '../../domain/playbooks/playbook.ts';
import { readReportLine } from '../../domain/playbooks/report.ts';
import { type PlaybookResults, ResultsCollector } from '../../domain/playbooks/results.ts';
import { verdictOf } from '../../domain/playbooks/verdict.ts';
import { leftOutLine } from '../checkout/plugin-folders.ts';
import { TREE } from '../checkout/run-tree.ts';
import { outcomeOfError, type RunJob, type Runner, type RunOutcome, type RunTools } from '../runner.ts';
import { CLEAR_FILES, placeInputs, type PlaybookMaterials } from './inputs.ts';
import { findAnsible } from './tool.ts';
import { makeTree } from './tree.ts';

/** A run of 2,000 tasks on 10,000 hosts reports 1.2 GB in days; a task that writes without end reaches this. */
const REPORT_BYTES_MAX = 2 * 1024 * 1024 * 1024;

/** Ports that a line names at most. */
const PORTS_SAID_MAX = 8;

type Job = RunJob<PlaybookSpec, PlaybookMaterials>;

/** Runs a playbook with the ansible-playbook on PATH. */
export const ansibleRunner: Runner<PlaybookSpec, PlaybookMaterials, never, PlaybookResults> = {
  clearFiles: CLEAR_FILES,
  async run(job, tools) {
    try {
      return await runPlaybook(job, tools);
    } catch (error) {
      return outcomeOfError(error, tools);
    }
  },
};

async function runPlaybook(
  { spec, materials, secrets }: Job,
  tools: RunTools<never>,
): Promise<RunOutcome<PlaybookResults>> {
  const tool = await findAnsible('ansible-playbook', tools.searchPath, tools.runDir);
  if (tool === null)
    throw new Error(
      'ansible-playbook is not on the PATH of the daemon: install ansible-core, or start the daemon with it on its ' +
        'PATH.',
    );
  const { tree, plugins } = materials;
  const order = { tree, plugins, playbook: spec.playbook, fromSource: spec.source !== null };
  const { playbook, leftOut, hasConfig } = await makeTree(tools.runDir, order, tools.signal);
  if (leftOut.length > 0) tools.say(leftOutLine(leftOut, 'add the source with --plugins'));
  if (hasConfig) tools.say('Not used: ansible.cfg. Ansible runs with the configuration of the service.');
  for (const note of (await materials.dependencies?.notes(tools.runDir)) ?? []) tools.say(note);
  const inputs = await placeInputs(spec, materials, secrets, tools);
  const collector = new ResultsCollector((text) => tools.redact(text));
  const connectPorts = [...new Set([SSH_PORT, ...materials.sshPorts, ...spec.egressPorts])];
  const end = await tools.exec({
    argv: [tool.path, ...inputs.options, '--', playbook],
    readable: [...tool.readable, ...(materials.dependencies === null ? [] : [materials.dependencies.path])],
    writable: spec.writable ?? [],
    connectPorts,
    sharedMemory: true,
    // On other hosts a refusal is their own.
    ...(spec.inventory === LOCALHOST ? { widens: true as const } : {}),
    environment: inputs.environment,
    clearFiles: inputs.clearFiles,
    folder: TREE,
    report: {
      bytesMax: REPORT_BYTES_MAX,
      onLine(line) {
        const event = readReportLine(line);
        const progress = event === null ? null : collector.add(event);
        if (progress !== null) tools.progress(progress);
      },
    },
  });
  const results = collector.results();
  const { tolerateUnreachable } = spec;
  const { reason, ...outcome } = verdictOf({ end, recap: results.recap, tolerateUnreachable });
  if (reason !== null) tools.say(reason);
  const closed = closedPorts(results, connectPorts);
  if (closed.length > 0) tools.say(closedPortsLine(closed));
  return { ...outcome, result: results };
}

function closedPortsLine(ports: readonly number[]): string {
  const options = ports.slice(0, PORTS_SAID_MAX).map((port) => `--egress-port ${port}`);
  return `Hosts have SSH on a port that this job may not connect to. To allow it: ${options.join(' ')}`;
}
