import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSecrets } from './plan-secrets.ts';
import { viewOf } from './plan-view.ts';
import { REDACTED } from '../secrets/redaction.ts';

const SECRET = 'pa$$ "w<ö>rd"/+1';

function maskedResource(value: unknown): object {
  return { change: { before: null, after: { v: value }, before_sensitive: false, after_sensitive: { v: true } } };
}

/** A plan that masks each value in a separate resource. */
function masking(...values: readonly unknown[]): Record<string, unknown> {
  return { resource_changes: values.map(maskedResource) };
}

function stateWith(value: string): object {
  return { resources: [{ values: { v: value }, sensitive_values: { v: true } }] };
}

function maskedOutput(before: string, after: string): object {
  return { before, after, before_sensitive: true, after_sensitive: true };
}

void test('T55: a secret of the run is hidden in the plan as it is, within words and in every encoding', () => {
  const hides = findSecrets({}, [Buffer.from(SECRET)], []);
  const bytes = Buffer.from(SECRET);
  const shapes = [
    SECRET,
    `user:${SECRET}@host`,
    bytes.toString('base64'),
    Buffer.from(`x${SECRET}y`).toString('base64'),
    Buffer.from(`xy${SECRET}`).toString('base64url'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(SECRET),
    JSON.stringify({ a: SECRET }),
    JSON.stringify(JSON.stringify({ a: SECRET })),
  ];
  for (const shape of shapes) assert.equal(hides(shape), true, shape);
  for (const other of ['', 'password', SECRET.slice(0, -1), bytes.toString('hex').slice(2)])
    assert.equal(hides(other), false, other);
});

void test('T55: of a secret that is JSON, each part is hidden', () => {
  const hides = findSecrets({}, [Buffer.from('{"user": "root-user", "ports": [80, 56789], "on": true}')], []);
  assert.deepEqual(['root-user', 'at root-user', '56789', '80', 'true', 'user'].map(hides), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  const numbers = findSecrets({}, [Buffer.from('[98765432109876543210, 4.50e3]')], []);
  assert.deepEqual(['98765432109876543210', '4.50e3', '4500', '98765432109876540000'].map(numbers), [
    true,
    true,
    true,
    false,
  ]);
});

void test('T55: a variable that a secret of the run filled is hidden though the configuration does not mark it', () => {
  const plan = { variables: { db: { value: { user: 'root-user' } }, region: { value: 'eu-central' } } };
  const hides = findSecrets(plan, [], ['db', 'missing']);
  assert.deepEqual(['root-user', 'eu-central'].map(hides), [true, false]);
});

void test('T56: a value that is masked anywhere in the plan is hidden everywhere in it', () => {
  const places: Record<string, Record<string, unknown>> = {
    'a resource': masking('canary-1'),
    'what was there before': {
      resource_changes: [
        { change: { before: ['canary-1'], after: null, before_sensitive: [true], after_sensitive: false } },
      ],
    },
    drift: { resource_drift: masking('canary-1')['resource_changes'] },
    'a change put off': {
      deferred_changes: [{ resource_change: (masking('canary-1')['resource_changes'] as unknown[])[0] }],
    },
    'an output before': { output_changes: { o: maskedOutput('canary-1', 'x') } },
    'an output after': { output_changes: { o: maskedOutput('x', 'canary-1') } },
    'planned outputs': { planned_values: { outputs: { o: { sensitive: true, value: 'canary-1' } } } },
    'planned values': { planned_values: { root_module: stateWith('canary-1') } },
    'the state': {
      prior_state: { values: { root_module: { child_modules: [{ child_modules: [stateWith('canary-1')] }] } } },
    },
    'a variable': {
      variables: { v: { value: { k: 'canary-1' } } },
      configuration: { root_module: { variables: { v: { sensitive: true } } } },
    },
    'the default of a variable': {
      configuration: { root_module: { variables: { v: { sensitive: true, default: 'canary-1' } } } },
    },
    'a constant for a module': {
      configuration: {
        root_module: {
          module_calls: {
            m: {
              expressions: { v: { constant_value: 'canary-1' } },
              module: { variables: { v: { sensitive: true } } },
            },
          },
        },
      },
    },
  };
  for (const [place, plan] of Object.entries(places)) {
    const hides = findSecrets(plan, [], []);
    assert.deepEqual(
      ['canary-1', 'a canary-1 b', Buffer.from('canary-1').toString('base64'), 'canary-2'].map(hides),
      [true, true, true, false],
      place,
    );
  }
  const unmasked = {
    variables: { v: { value: 'canary-1' } },
    configuration: { root_module: { variables: { v: {} } } },
  };
  assert.equal(findSecrets(unmasked, [], [])('canary-1'), false);
});

void test('a masked value hides what equals it, from 4 bytes on also what contains it; an empty one nothing', () => {
  const hides = findSecrets(
    masking('', 'a', 'abc\n', 'four', 4321, 17, true),
    [Buffer.from('pin'), Buffer.from('')],
    [],
  );
  assert.deepEqual(
    ['', 'a', 'ab', 'abc', 'abc\n', 'abcd', 'fourth', '4321', 'no 4321', '17', 'true', 'pin', 'pinned'].map(hides),
    [false, true, false, true, true, false, true, true, true, false, false, true, false],
  );
});

void test('T56: thousands of masked values, and very long ones, are each hidden as they are', () => {
  const many = Array.from({ length: 3000 }, (_, i) => `password number ${i} of many`);
  const long = Array.from({ length: 40 }, (_, i) => `${i} ${'long text '.repeat(5000)}`);
  const hides = findSecrets(masking(...many, ...long), [], []);
  for (const value of [...many, ...long]) assert.equal(hides(`see: ${value}`), true);
  assert.equal(hides('password number 3000'), false);
  assert.equal(hides(Buffer.from(many[0]!).toString('base64')), true);
});

void test(
  'T56: keys of maps, keys of addresses and moved addresses are hidden like values; policy gets the ' +
    'address as it is',
  () => {
    const masks = { after_unknown: {}, before_sensitive: {}, after_sensitive: {} };
    const address = 'module.m["canary \\"one\\""].x.a["plain"]';
    const json = {
      format_version: '1.2',
      variables: { v: { value: 'canary "one"' } },
      configuration: { root_module: { variables: { v: { sensitive: true } } } },
      resource_changes: [
        {
          address,
          type: 'x',
          name: 'a',
          previous_address: 'x.a["my canary \\"one\\""]',
          change: { actions: ['update'], before: { m: {} }, after: { m: { 'canary "one"': 1 } }, ...masks },
        },
      ],
    };
    const { view, planned } = viewOf(json, { artifactId: 'art_1', secrets: [] });
    const entry = (JSON.parse(view) as { changes: { address: string; attributes: object[] }[] }).changes[0];
    assert.equal(entry?.address, `module.m["${REDACTED}"].x.a["plain"]`);
    assert.deepEqual(entry.attributes, [
      { name: '(address)', before: `x.a["${REDACTED}"]`, after: entry.address },
      { name: 'm', before: '{}', after: `{"${REDACTED}":1}` },
    ]);
    assert.equal(planned.changes[0]?.address, address);
  },
);
