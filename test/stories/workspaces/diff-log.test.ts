/** What the log of a run shows of values that were sensitive, with the real tool. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { addWorkspace, linesOf, type RunVerb, runToEnd } from '../../support/infrastructure.ts';
import { needs } from '../../support/tools.ts';

const VALUES = {
  plain: 'Tr0ub4dor"&${x}\\3\u00a0\u0001end',
  short: 'zq7',
  number: 987654321,
  lines: 'first of the lines\n\tsecond of the lines\nlast of the lines',
  spaced: `host=db.internal port=5432 user=service password=hunter2secret${' sslmode=verify-full'.repeat(4)}`,
  map: { key: 'value-in-a-map', list: ['value-in-a-list'] },
  json: JSON.stringify({ a: 'value-in-json', deep: JSON.stringify({ b: 'deep-in-json\nnext-in-json' }), n: 24681357 }),
};
/** What terraform prints of them. */
const CLEAR = [
  'Tr0ub4dor',
  'zq7',
  '987654321',
  ...['first', 'second', 'last'].map((which) => `${which} of the lines`),
  'hunter2secret',
  'sslmode',
  'value-in-a-map',
  'value-in-a-list',
  'value-in-json',
  'deep-in-json',
  'next-in-json',
  '24681357',
];

/** The provider copies `input` to `output`, and terraform's mark stays where it was. */
function root(input: (name: string) => string): string {
  const names = Object.keys(VALUES);
  const box = (name: string) => `resource "terraform_data" "${name}" {\n  input = ${input(name)}\n}\n`;
  return names.map((name) => box(name) + `output "${name}" {\n  value = terraform_data.${name}.output\n}\n`).join('');
}

/** Terraform wraps the message of a check. */
const CHECK = `check "connects" {
  assert {
    condition = nonsensitive(var.spaced) == ""
    error_message = "It does not connect with \u0024{nonsensitive(var.spaced)}"
  }
}
`;
const SENSITIVE = `${Object.keys(VALUES)
  .map((name) => `variable "${name}" {\n  sensitive = true\n}\n`)
  .join('')}${root((name) => `var.${name}`)}${CHECK}`;
const CHANGED = `${root(() => '"changed"')}resource "terraform_data" "open" {
  input = "in clear"
}
`;

/** Terraform shows what it has planned so far. */
const FAILING = `resource "terraform_data" "failing" {
  depends_on = [terraform_data.lines]
  lifecycle {
    precondition {
      condition = terraform_data.lines.input == ""
      error_message = "It is not."
    }
  }
}
`;

async function ended(fixture: Fixture, verb: RunVerb, raw: object = {}, state = 'succeeded') {
  const job = await runToEnd(fixture, verb, 'net', raw);
  const lines = await linesOf(fixture, job.id);
  assert.equal(job.state, state, lines.join('\n'));
  return { job, lines };
}

function assertHidden(lines: readonly string[], diff: RegExp): void {
  const text = lines.join('\n');
  assert.match(text, diff);
  assert.match(text, /\[redacted · secret\]/);
  assert.deepEqual(
    CLEAR.filter((value) => text.includes(value)),
    [],
    text,
  );
}

test(
  'T98: no run shows what was sensitive in its diff or in the outputs after it',
  { skip: needs('terraform or tofu', 'Landlock ABI 4') },
  async (t) => {
    const fixture = await openFixture(t);
    await fixture.serve();
    const file = join(fixture.dir, 'net.tfvars.json');
    writeFileSync(file, JSON.stringify(VALUES));
    const dir = await addWorkspace(fixture, 'net', SENSITIVE, { var_files: [file] });
    const { job } = await ended(fixture, 'plan');
    const outputs = /It does not connect with [^]*Apply complete! [^]*Outputs:/;
    assertHidden((await ended(fixture, 'apply', { plan: job.plan_artifact_id })).lines, outputs);
    assertHidden((await ended(fixture, 'apply')).lines, outputs);
    await fixture.call('workspace.update', { name: 'net', no_inputs: true });
    writeFileSync(join(dir, 'main.tf'), CHANGED);
    const changes = /Plan: 1 to add, 7 to change, 0 to destroy\./;
    const { lines } = await ended(fixture, 'plan');
    assertHidden(lines, changes);
    assert.match(lines.join('\n'), /input += "in clear"/);
    // In order, with the progress first.
    const order = ['Refreshing state...', 'perform the following actions', 'Plan: 1 to add', 'Planned: '];
    const places = order.map((words) => lines.findIndex((line) => line.includes(words)));
    assert.deepEqual(
      places.toSorted((x, y) => x - y),
      places,
    );
    assertHidden((await ended(fixture, 'drift')).lines, changes);
    writeFileSync(join(dir, 'main.tf'), `${CHANGED}${FAILING}`);
    const failed = await ended(fixture, 'plan', {}, 'failed');
    assertHidden(failed.lines, /terraform_data\.lines will be updated in-place[^]*Plan: /);
    assert.equal(failed.job.reason, 'The program ended with exit code 1.');
    writeFileSync(join(dir, 'main.tf'), CHANGED);
    assertHidden((await ended(fixture, 'destroy')).lines, /Resources: 0 added, 0 changed, 7 destroyed/);
  },
);
