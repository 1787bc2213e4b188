import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lines, OPTIONS, plan, read, resource, update } from '../../../test/support/fixtures/plan-view.ts';
import { REDACTED } from '../secrets/redaction.ts';
import { parsePlan } from './plan-json.ts';
import { SERVER_SET } from '../plan-words.ts';
import { viewOf } from './plan-view.ts';

void test(
  'destroys stand first, then replacements, each in the order of terraform; no-ops, reads and data ' +
    'sources stand nowhere',
  () => {
    const json = plan([
      resource('c', ['create'], { after: { a: 1 } }),
      resource('u', ['update'], { before: { a: 1 }, after: { a: 2 } }),
      resource('n', ['no-op'], { before: { a: 1 }, after: { a: 1 } }),
      resource('r1', ['delete', 'create'], { before: { a: 1 }, after: { a: 2 } }),
      resource('d', ['delete'], { before: { a: 1 } }),
      resource('r2', ['create', 'delete'], { before: { a: 1 }, after: { a: 2 } }),
      resource('q', ['read'], { after: { a: 1 } }, { mode: 'data' }),
    ]);
    const { planned, hasChanges, summary } = viewOf(json, OPTIONS);
    assert.deepEqual(
      planned.destroys.map(({ name, action }) => [name, action]),
      [
        ['d', 'destroy'],
        ['r1', 'replace'],
        ['r2', 'replace'],
      ],
    );
    assert.deepEqual(planned.changes, [{ address: 'x.u', type: 'x', name: 'u', action: 'update' }]);
    assert.deepEqual(
      planned.creates.map(({ name }) => name),
      ['c'],
    );
    assert.equal(summary, '1 to destroy, 2 to replace, 1 to change, 1 to create');
    assert.equal(hasChanges, true);
    assert.equal(read(json).line_count, 10);
  },
);

void test('a string is shown as it is, everything else as compact JSON, null as nothing', () => {
  const after = { s: 'two words', n: 1.5, t: false, l: [1, 'a', null], m: { k: ['v'] }, nothing: null, empty: '' };
  assert.deepEqual(lines(plan([resource('a', ['create'], { after })])), [
    'empty:  -> ',
    'l:  -> [1,"a",null]',
    'm:  -> {"k":["v"]}',
    'n:  -> 1.5',
    's:  -> two words',
    't:  -> false',
  ]);
  assert.deepEqual(lines(plan([resource('a', ['delete'], { before: { s: 'gone', none: null } })])), ['s: gone -> ']);
});

void test('an update lists the attributes that differ and no other', () => {
  assert.deepEqual(lines(plan([update({ a: 1, b: [1, { c: 2 }], d: null }, { a: 1, b: [1, { c: 3 }] })])), [
    'b: [1,{"c":2}] -> [1,{"c":3}]',
  ]);
});

void test('numbers that a double would round are shown digit by digit, and differ when their last digit does', () => {
  const text = JSON.stringify(plan([update({ id: 1 }, { id: 2 })]))
    .replace('"id":1', '"id":12345678901234567890')
    .replace('"id":2', '"id":12345678901234567891');
  assert.deepEqual(lines(parsePlan(text)), ['id: 12345678901234567890 -> 12345678901234567891']);
});

void test('what is known only after the apply is marked at its place, also in lists and maps, and is no change', () => {
  const json = plan([
    update(
      { at: 'mon', l: ['a', 'b'], m: { x: 1, z: 2 }, same: 1 },
      { l: ['a', null], m: { x: 1 }, same: 1 },
      { after_unknown: { at: true, l: [false, true], m: { z: true, b: { c: true } }, same: false } },
    ),
  ]);
  assert.deepEqual(lines(json), [
    `at: mon -> ${SERVER_SET}`,
    `l: ["a","b"] -> ["a","${SERVER_SET}"]`,
    `m: {"x":1,"z":2} -> {"b":{"c":"${SERVER_SET}"},"x":1,"z":"${SERVER_SET}"}`,
  ]);
  assert.equal(read(json).summary, '0 to destroy, 0 to replace, 1 to change, 0 to create');
});

void test('T56: a masked scalar, list member or nested member is marked before and after, whatever its type', () => {
  const json = plan([
    update(
      { a: 'hunter2-old', l: ['x', 'hunter2-in-list'], m: { k: { pin: 4711 } }, whole: { deep: ['hunter2-deep'] } },
      { a: 'hunter2-new', l: ['y', 'hunter2-in-list'], m: { k: { pin: 4712 } }, whole: { deep: ['hunter2-deeper'] } },
      {
        before_sensitive: { a: true, l: [false, true], m: { k: { pin: true } }, whole: true },
        after_sensitive: { a: true, l: [false, true], m: { k: { pin: true } }, whole: true },
      },
    ),
  ]);
  assert.deepEqual(lines(json), [
    `a: ${REDACTED} -> ${REDACTED}`,
    `l: ["x","${REDACTED}"] -> ["y","${REDACTED}"]`,
    `m: {"k":{"pin":"${REDACTED}"}} -> {"k":{"pin":"${REDACTED}"}}`,
    `whole: ${REDACTED} -> ${REDACTED}`,
  ]);
});

void test('T56: a mask of an unknown shape hides the whole attribute', () => {
  const shapes: [unknown, unknown][] = [
    [['secret-one', 'secret-two'], [true]],
    [['secret-one'], { 0: true }],
    [{ k: 'secret-one' }, [true]],
    [{ k: ['secret-one'] }, { k: { 0: true } }],
    ['secret-one', {}],
    ['secret-one', 'yes'],
    [{ k: 'secret-one' }, { k: 1 }],
    ['secret-one', null],
  ];
  for (const [value, mask] of shapes) {
    const json = plan([resource('a', ['create'], { after: { v: value }, after_sensitive: { v: mask } })]);
    assert.deepEqual(lines(json), [`v:  -> ${REDACTED}`], JSON.stringify(mask));
  }
});

void test('T56: masks that are missing, or hold for the whole resource, hide every attribute', () => {
  for (const mask of [undefined, null, true, 'x', []]) {
    const json = plan([resource('a', ['delete'], { before: { v: 'secret-one', w: 12 }, before_sensitive: mask })]);
    assert.deepEqual(lines(json), [`v: ${REDACTED} -> `, `w: ${REDACTED} -> `], JSON.stringify(mask));
  }
});

void test('T56: an attribute that only becomes or stops being sensitive is listed, and shown on neither side', () => {
  const json = plan([update({ a: 'hunter2-same' }, { a: 'hunter2-same' }, { before_sensitive: { a: true } })]);
  assert.deepEqual(lines(json), [`a: ${REDACTED} -> ${REDACTED}`]);
});

void test('T56: keys that every object inherits are members like others', () => {
  const after = JSON.parse('{"v":{"constructor":"a","__proto__":"hunter2-proto"},"toString":"b"}') as object;
  const mask = JSON.parse('{"v":{"__proto__":true}}') as object;
  const json = plan([resource('a', ['create'], { after, after_sensitive: mask })]);
  assert.deepEqual(lines(json), ['toString:  -> b', `v:  -> {"constructor":"a","__proto__":"${REDACTED}"}`]);
});

void test('a masked number or bool is hidden where the same resource shows it again, and nowhere else', () => {
  const masked = { after: { input: [80, true], output: [80, true, 81] }, after_sensitive: { input: true } };
  const json = plan([resource('a', ['create'], masked), resource('b', ['create'], { after: { port: 80, on: true } })]);
  assert.deepEqual(lines(json), [
    `input:  -> ${REDACTED}`,
    `output:  -> ["${REDACTED}","${REDACTED}",81]`,
    'on:  -> true',
    'port:  -> 80',
  ]);
});

void test('an unknown action is listed under destroys, with the action of terraform', () => {
  for (const actions of [['dissolve'], ['update', 'delete'], []]) {
    const { destroys, summary } = read(plan([resource('a', actions, { before: { k: 1 }, after: { k: 2 } })]));
    assert.equal(destroys[0]?.action, 'destroy');
    assert.deepEqual(destroys[0].attributes[0], { name: '(action)', before: '', after: actions.join(', ') });
    assert.equal(summary, '1 to destroy, 0 to replace, 0 to change, 0 to create');
  }
});

void test('a resource that is forgotten is a change of the state, and a destroy where another takes its place', () => {
  const json = plan([
    resource('a', ['forget'], { before: { k: 1 } }),
    resource('b', ['create', 'forget'], { before: { k: 1 }, after: { k: 2 } }),
  ]);
  const { destroys, changes } = read(json);
  const note = { name: '(state)', before: 'managed', after: 'no longer managed, not destroyed' };
  assert.deepEqual(
    changes.map(({ address, attributes }) => [address, attributes]),
    [['x.a', [note]]],
  );
  assert.deepEqual(
    destroys.map(({ address, action, attributes }) => [address, action, attributes[0]]),
    [['x.b', 'replace', note]],
  );
});

void test('a deposed object is distinguished from the resource that replaced it', () => {
  const { destroys } = read(
    plan([
      resource('a', ['delete'], { before: { k: 1 } }, { deposed: '0badc0de' }),
      resource('a', ['delete'], { before: { k: 2 } }),
    ]),
  );
  assert.deepEqual(
    destroys.map(({ address }) => address),
    ['x.a (deposed object 0badc0de)', 'x.a'],
  );
});

void test('moves and imports are shown with their change, and counted without one', () => {
  const change = { before: { k: 1 }, after: { k: 2 } };
  const json = plan([
    resource('a', ['update'], { ...change, importing: { id: 'i-123' } }, { previous_address: 'x.old' }),
    resource('b', ['no-op'], { before: { k: 1 }, after: { k: 1 } }, { previous_address: 'x.older' }),
    resource('c', ['no-op'], { before: { k: 1 }, after: { k: 1 }, importing: { id: 'i-124' } }),
    resource('d', ['update'], { ...change, importing: { unknown: true } }),
    resource('e', ['update'], { ...change, importing: { identity: { account: 'a-1' } } }),
  ]);
  assert.deepEqual(lines(json), [
    '(address): x.old -> x.a',
    '(import):  -> i-123',
    'k: 1 -> 2',
    `(import):  -> ${SERVER_SET}`,
    'k: 1 -> 2',
    '(import):  -> {"account":"a-1"}',
    'k: 1 -> 2',
  ]);
  assert.equal(
    read(json).summary,
    '0 to destroy, 0 to replace, 3 to change, 0 to create; ' +
      '1 resource moves in the state, 1 resource is imported as it is',
  );
});

void test('actions that an apply invokes are listed, and deferred changes are counted', () => {
  const json = plan([], {
    action_invocations: [{ address: 'action.x.run', type: 'x', name: 'run' }],
    deferred_changes: [{ reason: 'x', resource_change: resource('a', ['create'], { after: { k: 1 } }) }],
  });
  assert.deepEqual(
    read(json).changes.map(({ address }) => address),
    ['action.x.run'],
  );
  assert.equal(
    read(json).summary,
    '0 to destroy, 0 to replace, 1 to change, 0 to create; 1 change is deferred to a later plan',
  );
});

void test(
  'the summary says when nothing changes, and when only outputs do; terraform has the last word on ' +
    'whether to apply',
  () => {
    const nothing = plan([], {
      output_changes: { a: { actions: ['no-op'], before_sensitive: false, after_sensitive: false } },
    });
    const outputs = plan([], {
      output_changes: { a: { actions: ['create'], after: 1, before_sensitive: false, after_sensitive: false } },
    });
    assert.deepEqual([viewOf(nothing, OPTIONS).summary, viewOf(nothing, OPTIONS).hasChanges], ['no changes', false]);
    assert.deepEqual(
      [viewOf(outputs, OPTIONS).summary, viewOf(outputs, OPTIONS).hasChanges],
      ['no changes; 1 output changes', true],
    );
    assert.equal(viewOf({ ...outputs, applyable: false }, OPTIONS).hasChanges, false);
    assert.equal(viewOf({ ...nothing, applyable: true }, OPTIONS).hasChanges, true);
  },
);

void test('T56: an input that is not a plan is refused in a sentence that quotes nothing of it', () => {
  let deep: unknown = 'hunter2-deep';
  for (let i = 0; i < 300; i += 1) deep = [deep];
  const bad: unknown[] = [
    null,
    [],
    'hunter2',
    {},
    { format_version: '2.0' },
    { format_version: 'hunter2' },
    plan([{ address: 'hunter2' }]),
    plan(['hunter2']),
    { ...plan([]), resource_changes: { hunter2: 1 } },
    plan([resource('a', ['create'], { after: 'hunter2' })]),
    plan([{ ...resource('hunter2', [], {}), change: null }]),
    plan([{ ...resource('a', [], {}), change: { actions: 'hunter2' } }]),
    plan([resource('a', ['create'], { after: { v: deep } })]),
    { ...plan([]), output_changes: ['hunter2'] },
  ];
  for (const json of bad) {
    assert.throws(
      () => viewOf(json, OPTIONS),
      (error: Error) => /^The plan could not be read: .+\.$/.test(error.message) && !error.message.includes('hunter2'),
    );
  }
  assert.throws(
    () => parsePlan('{"hunter2": hunter2'),
    (error: Error) => error.message === 'The plan could not be read: it is not valid JSON.',
  );
});
