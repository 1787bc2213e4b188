import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Projected } from '../../src/views/views.ts';
import type { Display } from '../../src/faces/text/display.ts';
import { render } from '../../src/faces/cli/render.ts';

type Plan = Projected<'approval.plan'>;
type Entry = Plan['destroys'][number];

const PAGE: Display = { nowMs: 0, color: false, width: null };
const ID = 'art_01m7yd4zyke00anp2z332d2j5p';

function entry(
  name: string,
  action: Entry['action'],
  ...attributes: readonly [name: string, before: string, after: string][]
): Entry {
  const named = attributes.map(([attribute, before, after]) => ({ name: attribute, before, after }));
  return { address: `terraform_data.${name}`, type: 'terraform_data', name, action, attributes: named };
}

function plan(more: Partial<Plan>): Plan {
  return { destroys: [], changes: [], creates: [], summary: 'No changes.', line_count: 0, artifact_id: ID, ...more };
}

test('a plan shows destroys first, each with its sign and word; its summary is the first and last line', () => {
  const data = plan({
    destroys: [
      entry('old', 'destroy', ['input', 'gone', '']),
      entry('moved', 'replace', ['zone', 'a', 'b'], ['id', '1', '[redacted · server-set]']),
    ],
    changes: [
      entry(
        'rule',
        'update',
        ['token', '[redacted · secret]', '[redacted · secret]'],
        ['note', '', 'x'],
        ['tag', 'x', ''],
      ),
    ],
    creates: [entry('new', 'create', ['input', '', 'v1'])],
    summary: '2 to destroy, 1 to change, 1 to create',
  });
  assert.equal(
    render('approval.plan', data, PAGE),
    `Plan ${ID}: 2 to destroy, 1 to change, 1 to create.

− terraform_data.old (destroy)
    input: gone
−/+ terraform_data.moved (replace)
    zone: a → b
    id: 1 → (known after apply)
~ terraform_data.rule (update)
    token: [redacted · secret] → [redacted · secret]
    note: (empty) → x
    tag: x → (empty)
+ terraform_data.new (create)
    input: v1

Plan: 2 to destroy, 1 to change, 1 to create.
`,
  );
});

test('a plan without changes says so', () => {
  assert.equal(render('approval.plan', plan({}), PAGE), `Plan ${ID}: No changes.\n\nPlan: No changes.\n`);
});

test('a value of several lines cannot look like a separate entry', () => {
  const text = render(
    'approval.plan',
    plan({ changes: [entry('a', 'update', ['script', 'x', 'y\n− terraform_data.b (destroy)'])] }),
    PAGE,
  );
  assert.deepEqual(
    text.split('\n').filter((line) => line.startsWith('−')),
    [],
  );
  assert.match(text, /script: x → y\\n− terraform_data\.b/);
});

test('on a terminal the signs have colour, and the words are the same', () => {
  const data = plan({
    destroys: [entry('old', 'destroy')],
    creates: [entry('new', 'create')],
    summary: '1 to destroy, 0 to change, 1 to create',
  });
  const coloured = render('approval.plan', data, { ...PAGE, color: true });
  assert.ok(coloured.includes('\u001b[31m− terraform_data.old (destroy)\u001b[39m'));
  assert.equal(stripVTControlCharacters(coloured), render('approval.plan', data, PAGE));
});

// 30 attributes each; measured: 0.3 s on a busy machine.
test('a plan of 5,000 resources is printed whole', () => {
  const attributes = Array.from({ length: 30 }, (_, at): [string, string, string] => [
    `attribute_${at}`,
    `before "${at}"`,
    'after ä',
  ]);
  const destroys = Array.from({ length: 5_000 }, (_, at) => entry(`item[${at}]`, 'destroy', ...attributes));
  const text = render('approval.plan', plan({ destroys, summary: '5000 to destroy, 0 to change, 0 to create' }), PAGE);
  assert.equal(text.match(/^− /gm)?.length, 5_000);
});
