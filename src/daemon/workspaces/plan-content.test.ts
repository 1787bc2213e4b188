import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packPlan, unpackPlan } from './plan-content.ts';

test('What is sealed of a plan has the inputs that its apply needs again, and is its file alone without any', () => {
  const file = Buffer.from('PK\u0003\u0004\n{}\n');
  const none = { vars: {}, varFiles: [] };
  assert.equal(packPlan({ file, inputs: none }), file);
  assert.deepEqual(unpackPlan(file), { file, inputs: none });
  for (const inputs of [
    { vars: { tok: 'a\nb' }, varFiles: [] },
    { vars: {}, varFiles: [{ name: 'a.tfvars', text: 'tok = 1\n' }] },
  ]) {
    const packed = packPlan({ file, inputs });
    assert.notDeepEqual(packed.subarray(0, 2), file.subarray(0, 2));
    assert.deepEqual(unpackPlan(Uint8Array.from(packed)), { file, inputs });
  }
});
