import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { knowsRemovedBlocks } from '../../../test/support/infrastructure.ts';
import { needs } from '../../../test/support/tools.ts';
import { REDACTED } from '../../domain/secrets/redaction.ts';
import { SERVER_SET } from '../../domain/plan-words.ts';
import type { ReadPlan } from '../../domain/workspaces/plan.ts';
import { readInThread, readPlan } from './plan-reader.ts';
import { findTool } from './tool.ts';

const OPTIONS = { artifactId: 'art_1', secrets: [], file: null };
const tool = await findTool(process.env['PATH'] ?? '');
const FORGETS = tool !== null && knowsRemovedBlocks(tool.path);

const SECRETS = {
  scalar: 'canary-scalar',
  inList: 'canary-in-list',
  inMap: 'canary-in-map',
  ofModule: 'canary-of-module',
  ofOutput: 'canary-of-output',
  ofRun: 'canary-of-run',
};

/** Both stages; what is in the second only, or differs in it, is given by `second`. */
function root(second: boolean): string {
  const pick = (one: string, two: string): string => (second ? two : one);
  return `
variable "scalar" {
  sensitive = true
  default   = "${SECRETS.scalar}"
}
variable "listed" {
  sensitive = true
  default   = ["${SECRETS.inList}", "b"]
}
variable "mapped" {
  sensitive = true
  default   = { pin = 471147, nested = { key = "${SECRETS.inMap}" } }
}
variable "run" { default = "${SECRETS.ofRun}" }
module "m" {
  source   = "./m"
  for_each = toset(["one", nonsensitive("my-\${var.scalar}")])
  password = "${SECRETS.ofModule}"
  version_ = "${pick('1', '2')}"
}
resource "terraform_data" "scalar" { input = { user = "${pick('bob', 'alice')}", pw = var.scalar } }
resource "terraform_data" "listed" { input = [var.listed, "${pick('x', 'y')}", [for v in var.listed : "l-\${v}"]] }
resource "terraform_data" "mapped" { input = { map = var.mapped, v = "${pick('1', '2')}" } }
resource "terraform_data" "clear" {
  input            = nonsensitive("login with \${var.scalar}")
  triggers_replace = "${pick('1', '2')}"
}
resource "terraform_data" "encoded" {
  input            = nonsensitive(base64encode(var.scalar))
  triggers_replace = ["${pick('1', '2')}"]
  lifecycle { create_before_destroy = true }
}
resource "terraform_data" "run" { input = "${pick('1', '2')} \${var.run}" }
resource "terraform_data" "same" { input = "same" }
resource "terraform_data" "${pick('before', 'moved')}" { input = "old" }
resource "terraform_data" "${pick('from', 'to')}" { input = "${pick('1', '2')}" }
output "o" {
  sensitive = true
  value     = "${SECRETS.ofOutput}-${pick('1', '2')}"
}
${second ? SECOND : FIRST}`;
}

const FIRST = `
resource "terraform_data" "gone" { input = { pw = var.scalar, user = "bob" } }
resource "terraform_data" "forgotten" { input = "f" }
`;
const FORGET = `
removed {
  from = terraform_data.forgotten
  lifecycle { destroy = false }
}
`;
const KEEP = 'resource "terraform_data" "forgotten" { input = "f" }\n';
const SECOND = `
moved {
  from = terraform_data.before
  to   = terraform_data.moved
}
moved {
  from = terraform_data.from
  to   = terraform_data.to
}
${FORGETS ? FORGET : KEEP}resource "terraform_data" "new" {
  for_each = { "a.b[\\"c\\"]" = 1 }
  input    = { id = terraform_data.clear.id, n = each.value, out = "${SECRETS.ofOutput}-2" }
}
data "terraform_remote_state" "later" {
  backend  = "local"
  config   = { path = "none" }
  defaults = { id = terraform_data.clear.id }
}
`;
const MODULE = `
variable "password" { sensitive = true }
variable "version_" {}
resource "terraform_data" "in" { input = "\${var.version_} \${var.password}" }
resource "terraform_data" "plain" { input = nonsensitive("\${var.version_} \${var.password}") }
`;

interface Entry {
  readonly address: string;
  readonly action: string;
  readonly attributes: readonly { readonly name: string; readonly before: string; readonly after: string }[];
}

describe('plans of the real terraform', { skip: needs('terraform or tofu') }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'plan-reader-'));
  let json: Buffer;
  let read: ReadPlan;
  const lists: Record<string, readonly Entry[]> = {};

  const terraform = (...args: string[]): Buffer => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: dir,
      TF_CLI_CONFIG_FILE: '/dev/null',
      CHECKPOINT_DISABLE: '1',
    };
    return execFileSync(tool?.path ?? 'terraform', args, {
      cwd: dir,
      env,
      maxBuffer: 16 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  };
  const planned = (): Buffer => {
    terraform('plan', '-input=false', '-out=plan');
    return terraform('show', '-json', 'plan');
  };
  const entry = (address: string): Entry | undefined =>
    Object.values(lists)
      .flat()
      .find((one) => one.address === address);
  const lines = (address: string): string[] | undefined =>
    entry(address)?.attributes.map((one) => `${one.name}: ${one.before} -> ${one.after}`);

  before(async () => {
    mkdirSync(join(dir, 'm'));
    writeFileSync(join(dir, 'm', 'main.tf'), MODULE);
    writeFileSync(join(dir, 'main.tf'), root(false));
    terraform('init', '-input=false');
    terraform('apply', '-input=false', '-auto-approve');
    writeFileSync(join(dir, 'main.tf'), root(true));
    json = planned();
    ({ plan: read } = await readPlan(json, { ...OPTIONS, secrets: [Buffer.from(SECRETS.ofRun)] }));
    const { destroys, changes, creates } = JSON.parse(read.view) as Record<string, Entry[]>;
    Object.assign(lists, { destroys, changes, creates });
  });
  after(() => rmSync(dir, { recursive: true }));

  it('destroys come first, then replacements; resources that stay, are read or only move are not listed', () => {
    const standing = Object.fromEntries(
      Object.entries(lists).map(([list, entries]) => [
        list,
        entries.map(({ action, address }) => `${action} ${address}`),
      ]),
    );
    assert.deepEqual(standing, {
      destroys: ['destroy terraform_data.gone', 'replace terraform_data.clear', 'replace terraform_data.encoded'],
      changes: [
        ...(FORGETS ? ['update terraform_data.forgotten'] : []),
        'update terraform_data.listed',
        'update terraform_data.mapped',
        'update terraform_data.run',
        'update terraform_data.scalar',
        'update terraform_data.to',
        `update module.m["${REDACTED}"].terraform_data.in`,
        `update module.m["${REDACTED}"].terraform_data.plain`,
        'update module.m["one"].terraform_data.in',
        'update module.m["one"].terraform_data.plain',
      ],
      creates: ['create terraform_data.new["a.b[\\"c\\"]"]'],
    });
    assert.equal(
      read.summary,
      `1 to destroy, 2 to replace, ${FORGETS ? 10 : 9} to change, 1 to create; ` +
        '1 output changes, 1 resource moves in the state',
    );
    assert.equal(read.hasChanges, true);
  });

  it(
    'T56: sensitive scalars, lists and maps are marked at their place, and again where terraform shows ' +
      'them in clear',
    () => {
      const pw = `{"pw":"${REDACTED}","user":"bob"}`;
      assert.deepEqual(lines('terraform_data.scalar'), [
        `input: ${pw} -> ${pw.replace('bob', 'alice')}`,
        `output: ${pw} -> ${SERVER_SET}`,
      ]);
      assert.deepEqual(lines('terraform_data.gone')?.slice(1), [`input: ${pw} -> `, `output: ${pw} -> `]);
      assert.equal(
        lines('terraform_data.listed')?.[0],
        `input: ["${REDACTED}","x","${REDACTED}"] -> ["${REDACTED}","y","${REDACTED}"]`,
      );
      assert.deepEqual(lines('terraform_data.mapped'), [
        `input: {"map":"${REDACTED}","v":"1"} -> {"map":"${REDACTED}","v":"2"}`,
        `output: {"map":{"nested":{"key":"${REDACTED}"},"pin":"${REDACTED}"},"v":"1"} -> ${SERVER_SET}`,
      ]);
      assert.deepEqual(lines('terraform_data.clear')?.slice(1), [
        `output: ${REDACTED} -> ${SERVER_SET}`,
        'triggers_replace: 1 -> 2',
      ]);
      assert.deepEqual(lines('terraform_data.run'), [
        `input: ${REDACTED} -> ${REDACTED}`,
        `output: ${REDACTED} -> ${SERVER_SET}`,
      ]);
      assert.equal(lines('module.m["one"].terraform_data.plain')?.[0], `input: ${REDACTED} -> ${REDACTED}`);
    },
  );

  it('T55, T56: no canary is in the view, in any form, though every one of them is in what terraform printed', () => {
    for (const secret of Object.values(SECRETS)) {
      assert.ok(json.includes(secret), secret);
      for (const form of [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')])
        assert.ok(!read.view.includes(form), form);
    }
    assert.ok(!read.view.includes('471147'));
  });

  it('what is known only after the apply is marked, and a resource that moves and changes says from where', () => {
    assert.deepEqual(lines('terraform_data.new["a.b[\\"c\\"]"]'), [
      `id:  -> ${SERVER_SET}`,
      `input:  -> {"id":"${SERVER_SET}","n":1,"out":"${REDACTED}"}`,
      `output:  -> ${SERVER_SET}`,
    ]);
    assert.deepEqual(lines('terraform_data.to'), [
      '(address): terraform_data.from -> terraform_data.to',
      'input: 1 -> 2',
      `output: 1 -> ${SERVER_SET}`,
    ]);
    assert.deepEqual(
      lines('terraform_data.forgotten'),
      FORGETS ? ['(state): managed -> no longer managed, not destroyed'] : undefined,
    );
  });

  it('a plan that changes nothing, and one that changes only an output, say so', async () => {
    writeFileSync(join(dir, 'main.tf'), root(false));
    const { plan: same } = await readPlan(planned(), OPTIONS);
    assert.deepEqual(
      [same.summary, same.hasChanges, same.planned],
      ['no changes', false, { destroys: [], changes: [], creates: [] }],
    );
    writeFileSync(join(dir, 'main.tf'), `${root(false)}output "more" { value = 1 }`);
    const { plan: outputs } = await readPlan(planned(), OPTIONS);
    assert.deepEqual([outputs.summary, outputs.hasChanges], ['no changes; 1 output changes', true]);
  });

  it('the thread answers the same bytes as the event loop, and leaves a part of another buffer alone', async () => {
    const options = {
      artifactId: 'art_1',
      secrets: [Buffer.from(SECRETS.ofRun)],
      secretVariables: ['run'],
      file: null,
    };
    const around = Buffer.concat([Buffer.from('{'), json, Buffer.from('}')]);
    assert.deepEqual(await readInThread(around.subarray(1, -1), options, 64), await readPlan(json, options));
    assert.equal(around.length, json.length + 2);
  });
});
