/** A plan file has no value of an ephemeral variable: the apply of the plan is given it again. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { addWorkspace, knowsSince, linesOf, runToEnd } from '../../support/infrastructure.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { findTool } from '../../../src/runners/terraform/tool.ts';
import { needs } from '../../support/tools.ts';

const tool = await findTool(process.env['PATH'] ?? '');
const knows = tool !== null && knowsSince(tool.path, tool.name === 'terraform' ? 10 : 11);

const ROOT = `
variable "zone" { default = "a" }
variable "flag" {
  type      = string
  ephemeral = true
}
variable "text" {
  type      = string
  ephemeral = true
}
variable "number" {
  type      = number
  ephemeral = true
}
variable "token" {
  type      = string
  ephemeral = true
}
variable "unset" {
  type      = string
  default   = null
  ephemeral = true
}
resource "terraform_data" "box" {
  input = var.zone
  lifecycle {
    precondition {
      condition     = var.flag == "f" && var.text == "two\\nlines\\n" && var.number == 7 && var.token == "from-a-secret"
      error_message = "another value"
    }
  }
}
`;

test(
  'Ephemeral variables are given again to the apply of their plan, with the values of that plan, and only they',
  { skip: needs('terraform or tofu', 'Landlock ABI 4') || (!knows && 'the tool knows no ephemeral variables') },
  async (t) => {
    const fixture = await openFixture(t);
    await fixture.serve();
    const write = (name: string, text: string): string => {
      writeFileSync(join(fixture.dir, name), text);
      return join(fixture.dir, name);
    };
    await fixture.call('secret.set', { secret: 'net/token', value: 'from-a-secret' });
    // The file has another zone than the plan: given again it would be refused.
    const files = [
      write('a.tfvars', 'zone = "file"\ntext = <<-EOT\n  two\n  lines\n  EOT\nflag = "no"\nundeclared = 1\n'),
      write('b.tfvars.json', '{"number":7,"zone":"json"}'),
    ];
    await addWorkspace(fixture, 'net', ROOT, {
      vars: { zone: 'b', flag: 'f' },
      var_files: files,
      run_secrets: { token: 'net/token' },
    });
    const ended = async (verb: 'plan' | 'apply' | 'drift' | 'destroy', raw: object = {}) => {
      const job = await runToEnd(fixture, verb, 'net', raw);
      assert.equal(job.state, 'succeeded', (await linesOf(fixture, job.id)).join('\n'));
      return job;
    };
    const { plan_artifact_id: plan } = await ended('plan');
    // The values are those of the plan, and not of the workspace, which has others or none by now.
    await fixture.call('workspace.update', { name: 'net', vars: { zone: 'c', flag: 'x' }, var_files: [] });
    await ended('apply', { plan });
    await fixture.call('workspace.update', { name: 'net', vars: { zone: 'd', flag: 'f' }, var_files: files });
    for (const verb of ['apply', 'drift', 'destroy'] as const) await ended(verb);
  },
);
