import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { knowsRemovedBlocks } from '../../../test/support/infrastructure.ts';
import { needs } from '../../../test/support/tools.ts';
import { readPlanFile } from './plan-file.ts';
import { refuseOtherPlan } from './plan-match.ts';
import { findTool } from './tool.ts';

const tool = await findTool(process.env['PATH'] ?? '');
const NAME = tool?.name ?? 'terraform';

interface Shown {
  resource_changes?: { address: string; previous_address?: string; deposed?: string; change: { actions: string[] } }[];
  output_changes?: Record<string, { actions: string[] }>;
}

class Root {
  readonly #dir: string;
  constructor(t: TestContext) {
    this.#dir = mkdtempSync(join(tmpdir(), 'plan-file-'));
    t.after(() => rmSync(this.#dir, { recursive: true }));
  }
  write(text: string, file = 'main.tf'): this {
    mkdirSync(join(this.#dir, file, '..'), { recursive: true });
    writeFileSync(join(this.#dir, file), text);
    return this;
  }
  read(file: string): string {
    return readFileSync(join(this.#dir, file), 'utf8');
  }
  run(...args: string[]): Buffer {
    return execFileSync(tool?.path ?? 'terraform', args, this.#options());
  }
  /** Plans, and answers what is shown and the bytes of the file. */
  plan(...args: string[]): { file: Buffer; shown: Shown } {
    this.run('plan', '-input=false', '-out=plan', ...args);
    return {
      file: readFileSync(join(this.#dir, 'plan')),
      shown: JSON.parse(this.run('show', '-json', 'plan').toString()) as Shown,
    };
  }
  #options(): { cwd: string; env: Record<string, string>; maxBuffer: number; stdio: ['ignore', 'pipe', 'pipe'] } {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.#dir,
      TF_CLI_CONFIG_FILE: '/dev/null',
      CHECKPOINT_DISABLE: '1',
    };
    return { cwd: this.#dir, env, maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'pipe'] };
  }
}

/** Refuses where they differ; answers the actions that were shown. */
async function agree({ file, shown }: { file: Buffer; shown: Shown }): Promise<string[]> {
  const { changes: inFile } = await readPlanFile({ bytes: file, tool: NAME });
  refuseOtherPlan(shown, inFile);
  const resources = shown.resource_changes ?? [];
  assert.equal(inFile.length, resources.length + Object.keys(shown.output_changes ?? {}).length);
  return [
    ...new Set(
      resources.map(({ change, deposed }) => change.actions.join() + (deposed === undefined ? '' : ' deposed')),
    ),
  ].toSorted();
}

const FIRST = `
module "m" {
  source   = "./m"
  for_each = toset(["one", "x.data.y[\\"z\\"].module.n"])
}
resource "terraform_data" "counted" {
  count = 3
  input = "c"
}
resource "terraform_data" "replaced" { triggers_replace = "1" }
resource "terraform_data" "before" { 
  triggers_replace = "1" 
  lifecycle { create_before_destroy = true }
}
resource "terraform_data" "gone" {}
resource "terraform_data" "same" {}
resource "terraform_data" "changed" { input = "1" }
resource "terraform_data" "old" {}
resource "terraform_data" "forgotten" {}
data "terraform_remote_state" "there" {
  backend  = "local"
  config   = { path = "elsewhere.tfstate" }
  defaults = {}
}
output "same" { value = "<&>é" }
output "changed" { value = "1" }
output "gone" { value = "1" }
`;
const SECOND = `
module "m" {
  source   = "./m"
  for_each = toset(["one", "two"])
}
resource "terraform_data" "counted" {
  count = 2
  input = "c"
}
resource "terraform_data" "replaced" { triggers_replace = "2" }
resource "terraform_data" "before" { 
  triggers_replace = "2" 
  lifecycle { create_before_destroy = true }
}
resource "terraform_data" "same" {}
resource "terraform_data" "changed" { input = "2" }
resource "terraform_data" "new" {}
moved {
  from = terraform_data.old
  to   = terraform_data.new
}
resource "terraform_data" "created" {
  for_each = { "a.b[\\"c\\"]" = 1, "é\\n" = 2 }
}
data "terraform_remote_state" "later" {
  backend  = "local"
  config   = { path = "elsewhere.tfstate" }
  defaults = { id = terraform_data.replaced.id }
}
output "same" { value = "<&>é" }
output "changed" { value = "2" }
output "new" { value = "1" }
`;
const FORGET = `
removed {
  from = terraform_data.forgotten
  lifecycle { destroy = false }
}
`;
const KEEP = 'resource "terraform_data" "forgotten" {}\n';
const MODULE =
  'resource "terraform_data" "in" {}\ndata "terraform_remote_state" "d" {\n  backend = "local"\n  config = { ' +
  'path = "elsewhere.tfstate" }\n  defaults = {}\n}\n';
const ELSEWHERE = JSON.stringify({
  version: 4,
  terraform_version: '1.0.0',
  serial: 1,
  lineage: 'l',
  outputs: {},
  resources: [],
});
const ONE = 'resource "terraform_data" "a" {}\n';

describe('What the real terraform shows of a plan is what its file says', { skip: needs('terraform or tofu') }, () => {
  test('with modules, count, for_each, replacements in both orders, moves, forgets, reads and outputs', async (t) => {
    const root = new Root(t).write(MODULE, 'm/main.tf').write(ELSEWHERE, 'elsewhere.tfstate').write(FIRST);
    root.run('init', '-input=false');
    assert.deepEqual(await agree(root.plan()), ['create']);
    root.run('apply', '-input=false', '-auto-approve', 'plan');
    assert.deepEqual(await agree(root.plan()), ['no-op']);
    const forgets = knowsRemovedBlocks(tool?.path ?? '');
    root.write(SECOND + (forgets ? FORGET : KEEP));
    assert.deepEqual(await agree(root.plan()), [
      'create',
      'create,delete',
      'delete',
      'delete,create',
      ...(forgets ? ['forget'] : []),
      'no-op',
      'read',
      'update',
    ]);
    assert.deepEqual(await agree(root.plan('-destroy')), ['delete']);
    assert.deepEqual(await agree(root.plan('-replace=terraform_data.same')), [
      'create',
      'create,delete',
      'delete',
      'delete,create',
      ...(forgets ? ['forget'] : []),
      'no-op',
      'read',
      'update',
    ]);
  });

  test('with a deposed object, with outputs only, and with nothing at all', async (t) => {
    const root = new Root(t).write(ONE);
    root.run('init', '-input=false');
    root.run('apply', '-input=false', '-auto-approve');
    const state = JSON.parse(root.read('terraform.tfstate')) as { resources: { instances: object[] }[] };
    state.resources[0]?.instances.push({ ...state.resources[0].instances[0], deposed: '0a1b2c3d' });
    root.write(JSON.stringify(state), 'terraform.tfstate');
    assert.deepEqual(await agree(root.plan()), ['delete deposed', 'no-op']);
    root.run('apply', '-input=false', 'plan');
    root.write(`${ONE}output "o" { value = 1 }\n`);
    assert.deepEqual(await agree(root.plan()), ['no-op']);
    const empty = new Root(t).write('');
    empty.run('init', '-input=false');
    assert.deepEqual(await agree(empty.plan()), []);
  });
});
