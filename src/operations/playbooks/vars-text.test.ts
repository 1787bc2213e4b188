import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusal } from '../../../test/support/refusal.ts';
import { withVarsText } from './vars-text.ts';

describe('The variables of a file', () => {
  test('keep their types, and a variable that is given besides comes first', async () => {
    const yaml = '# of the release\nversion: 1.10\ncount: 3\non: true\nnone: null\nlist: [a, { b: c }]\n';
    assert.deepEqual(await withVarsText(yaml, { count: 'four' }), {
      version: '1.10',
      count: 'four',
      on: true,
      none: null,
      list: ['a', { b: 'c' }],
    });
    assert.deepEqual(await withVarsText(' {"version": 1.5, "list": [1e3]}', {}), { version: 1.5, list: [1000] });
    assert.deepEqual(await withVarsText(undefined, { a: 1 }), { a: 1 });
  });

  test('T15: are refused as those of a request, with the name of the field', async () => {
    for (const [text, message] of [
      ['- a', /^extra_vars_file: expected variables with their values, as YAML or JSON\.$/],
      ['', /^extra_vars_file: file: it is empty\.$/],
      ['a: !vault x', /^extra_vars_file: file, line 1: .*tags are not accepted/],
      ['{"a": 1', /^extra_vars_file: the file begins with "\{" and is not JSON\.$/],
      ['ansible_connection: local', /^extra_vars_file: "ansible_connection": variables that begin with ansible_/],
      ['{"a": {"__ansible_unsafe": "x"}}', /^extra_vars_file: "a": the key "__ansible_unsafe" is not accepted\.$/],
      ['-\n'.repeat(40_000), /^extra_vars_file: file: it has too many lines, quotes, .+ at most 32000 in all\.$/],
      [`a: ${'x'.repeat(65_536)}`, /^extra_vars_file: expected at most 65536 bytes\.$/],
    ] as const)
      await assert.rejects(withVarsText(text, {}), refusal('invalid_argument', message), text.slice(0, 40));
  });
});
