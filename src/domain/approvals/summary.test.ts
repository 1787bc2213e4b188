import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recounted, shortCounts } from '../plan-words.ts';
import { headingOf, summarise, type SummaryFacts, summaryFault } from './summary.ts';

const COMMAND: SummaryFacts = {
  fault: null,
  kind: 'command',
  workspace: null,
  privileged: false,
  writesOutside: false,
  written: null,
  spec: '{"inventory":"localhost","limit":null,"command":["secret"],"egressPorts":[]}',
  plan: null,
  step: null,
  schedule: null,
  event: null,
};
const APPLY: SummaryFacts = {
  ...COMMAND,
  kind: 'apply',
  workspace: 'net',
  spec: '{"workspace":"net","plan":null,"runSecrets":{}}',
};

const ROWS: readonly (readonly [Partial<SummaryFacts>, string])[] = [
  [COMMAND, 'run a command on localhost'],
  [{ step: { name: 'look', workflow: 'w' } }, 'run a command on localhost (step look of workflow w)'],
  [{ written: 'frees space', schedule: 'nightly' }, 'frees space (schedule nightly)'],
  [{ ...APPLY, plan: 'no changes', schedule: 'nightly' }, 'no changes'],
  [{ privileged: true }, 'run a command on localhost (unsandboxed)'],
  [{ written: 'frees space', spec: null }, 'frees space'],
  [{ written: 'frees space', event: { name: 'DiskFull', host: 'db1' } }, 'frees space · DiskFull on db1'],
  [
    { privileged: true, event: { name: 'DiskFull', host: null } },
    'run a command on localhost (unsandboxed) · DiskFull',
  ],
  [{ event: { name: null, host: 'db1' } }, 'run a command on localhost · on db1'],
  [{ event: { name: null, host: null } }, 'run a command on localhost'],
  [
    { event: { name: `a\nb\u{202e}c ${'x'.repeat(99)}`, host: `h ${'y'.repeat(99)}` } },
    `run a command on localhost · a b c ${'x'.repeat(58)} on h ${'y'.repeat(62)}`,
  ],
  [{ event: { name: '😀'.repeat(70), host: null } }, `run a command on localhost · ${'😀'.repeat(64)}`],
  [{ writesOutside: true, written: 'frees space' }, 'frees space (writes outside its run)'],
  [APPLY, 'apply net without a saved plan'],
  [{ ...APPLY, kind: 'destroy' }, 'destroy everything in net'],
  [{ ...APPLY, plan: '1 to destroy, 0 to change, 2 to create' }, '1 to destroy, 0 to change, 2 to create'],
  [{ ...APPLY, fault: 'job job_1 was changed.', plan: 'no changes' }, 'job job_1 was changed.'],
  [{ ...APPLY, plan: 'no changes', event: { name: 'Drift', host: null } }, 'no changes · Drift'],
];

for (const [some, expected] of ROWS)
  test(`The summary of a job is: ${expected.slice(0, 80)}`, () =>
    assert.equal(summarise({ ...COMMAND, ...some }), expected));

test('A written summary is one line of fixed text', () => {
  for (const text of ['frees space', 'x'.repeat(200), 'a · b', '$HOME']) assert.equal(summaryFault(text), null, text);
  for (const [text, fault] of [
    ['', 'it is empty; expected one line of text'],
    ['a\nb', 'it has a line break; expected one line of text'],
    ['a\u2028', 'it has a line break; expected one line of text'],
    [' a', 'it begins or ends with a blank'],
    ['a ', 'it begins or ends with a blank'],
    ['a  b', 'it has several blanks in a row'],
    ['a\0', 'it has a control or invisible character'],
    ['\u{202e}a', 'it has a control or invisible character'],
    ['a\tb', 'it has a control or invisible character'],
  ] as const)
    assert.equal(summaryFault(text), fault, JSON.stringify(text));
  assert.match(summaryFault('x'.repeat(201)) ?? '', /at most 200/);
  assert.match(summaryFault('free ${event.name}') ?? '', /without \$\{…\}/);
});

test('A heading says what is asked for: the counts of a plan that are not zero, or the summary', () => {
  const plan = '2 to destroy, 0 to replace, 0 to change, 1 to create; 1 output changes';
  assert.equal(headingOf({ ...APPLY, plan }), 'Apply net: 2 to destroy, 1 to create');
  assert.equal(headingOf({ ...APPLY, plan: 'no changes; 1 output changes' }), 'Apply net: no changes');
  const event = { name: 'DiskFull', host: 'db1' };
  assert.equal(headingOf({ ...APPLY, plan, fault: 'it was changed.' }), 'It was changed.');
  assert.equal(headingOf({ ...COMMAND, event }), 'Run a command on localhost · DiskFull on db1');
  assert.equal(shortCounts('no changes'), 'no changes');
});

const entries = (...actions: string[]) => actions.map((action) => ({ action }));

test('A summary of an earlier build is counted again: a replacement is no destroy', () => {
  const planned = { destroys: entries('destroy', 'replace', 'replace'), changes: [], creates: entries('create') };
  const none = { destroys: [], changes: [], creates: [] };
  const now = '1 to destroy, 2 to replace, 0 to change, 1 to create';
  assert.equal(recounted('3 to destroy, 0 to change, 1 to create', planned), now);
  assert.equal(
    recounted('3 to destroy, 0 to change, 1 to create; 1 output changes', planned),
    `${now}; 1 output changes`,
  );
  assert.equal(recounted('No changes.', none), 'no changes');
  assert.equal(recounted('No resource changes; 1 output changes.', none), 'no changes; 1 output changes');
  for (const text of [now, 'no changes', 'no changes; 1 output changes']) assert.equal(recounted(text, planned), null);
});
