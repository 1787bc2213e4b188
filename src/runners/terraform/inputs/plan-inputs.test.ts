import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignmentsOf } from './assignments.ts';
import { inputsForApply } from './plan-inputs.ts';

/** Each is one assignment as a file may have it. */
const ASSIGNMENTS: readonly (readonly [name: string, text: string])[] = [
  ['plain', 'plain = "a"'],
  ['close', 'close="a"'],
  ['remark', 'remark = 1 # tok = "no"'],
  ['slashes', 'slashes = 1 // tok = "no" {'],
  ['block', 'block = /* tok = "no"\n*/ 2'],
  ['list', 'list = [\n  1, # ]\n  "]",\n]'],
  ['object', 'object = {\n  tok = "inner"\n  other : { a = 1 }\n}'],
  ['quotes', String.raw`quotes = "\" } \\"`],
  ['escaped', 'escaped = "$${ %%{ "'],
  ['template', 'template = "${"a\n}"} }"'],
  ['many', 'many = (1 +\n 2)'],
  ['heredoc', 'heredoc = <<EOT\ntok = "no"\n EOTS\nEOT'],
  ['indented', 'indented = <<-E-T\n    } " ${\n    E-T'],
  ['empty', 'empty = <<EOT\nEOT'],
  ['with-dash', 'with-dash = null'],
  ['größe', 'größe = 1'],
  ['tok', 'tok = "last"'],
];

test('A file of variables is split where the values end, whatever is in them', () => {
  const comments = '# tok = 1\n/* tok = 2\n*/ // tok = 3\n\n';
  for (const [lineEnd, text] of [
    ['\n', comments + ASSIGNMENTS.map(([, each]) => `  ${each}\n`).join('\n')],
    [
      '\r\n',
      ASSIGNMENTS.map(([, each]) => `${each}\n`)
        .join(comments)
        .replaceAll('\n', '\r\n'),
    ],
  ] as const)
    assert.deepEqual(
      assignmentsOf(text).map(({ name, text: kept }) => [name, kept.trimEnd().replaceAll(lineEnd, '\n')]),
      ASSIGNMENTS,
    );
  for (const [name, text] of ASSIGNMENTS) assert.deepEqual(assignmentsOf(text), [{ name, text }], 'without a line end');
});

test('A file that is no file of variables is split up to there', () => {
  for (const bad of ['', '= 1', '"a" = 1', '{}', 'a']) assert.deepEqual(assignmentsOf(bad), []);
  for (const open of ['a = "', 'a = [', 'a = <<X\n', 'a = /*', 'a = "${'])
    assert.equal(assignmentsOf(`b = 1\n${open}`).length, 2);
});

test('The apply of a plan is given the named variables again, and only they', () => {
  const inputs = {
    vars: { tok: 'a', zone: 'b' },
    varFiles: [
      { name: 'a.tfvars', text: 'zone = "c"\ntok = <<E\nx\nE\nother = 1\n' },
      { name: 'none.tfvars', text: 'zone = "tok = 1"\n' },
      { name: 'b.tfvars.json', text: '{"tok":{"n":12345678901234567890,"t":"${1}"},"zone":1,"__proto__":1}' },
      ...['[]', '1', 'null', '{"tok":', '{}'].map((text, at) => ({ name: `${at}.tfvars.json`, text })),
    ],
  };
  assert.deepEqual(inputsForApply(inputs, ['tok', 'unknown']), {
    vars: { tok: 'a' },
    varFiles: [
      { name: 'a.tfvars', text: 'tok = <<E\nx\nE\n' },
      { name: 'b.tfvars.json', text: '{"tok":{"n":12345678901234567890,"t":"${1}"}}' },
    ],
  });
  assert.deepEqual(inputsForApply(inputs, []), { vars: {}, varFiles: [] });
});
