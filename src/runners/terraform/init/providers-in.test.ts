import assert from 'node:assert/strict';
import { it } from 'node:test';
import { providersIn } from './providers-in.ts';

it('names the providers of a state that an init has to fetch, each once and in order', () => {
  const names = [
    'provider["registry.terraform.io/hashicorp/null"]',
    'provider["registry.terraform.io/hashicorp/aws"].west',
    'module.m[0].provider["registry.terraform.io/hashicorp/aws"]',
    'provider["terraform.io/builtin/terraform"]',
  ];
  const state = { version: 4, resources: names.map((provider) => ({ mode: 'managed', provider, instances: [] })) };
  const expected = ['registry.terraform.io/hashicorp/aws', 'registry.terraform.io/hashicorp/null'];
  for (const text of [JSON.stringify(state), JSON.stringify(state, null, 2)])
    assert.deepEqual(providersIn(Buffer.from(text)), expected);
  assert.deepEqual(providersIn(Buffer.from('provider[\\"' + 'x'.repeat(1_000))), []);
  assert.deepEqual(providersIn(Buffer.alloc(0)), []);
});
