import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CEL_DEPTH_MAX, isTooDeep } from './depth.ts';

/** `depth` times the first, and the end of each in the reverse order. */
function nested(open: string, close: string, depth: number): string {
  return `${open.repeat(depth)}1${close.repeat(depth)}`;
}

it('An expression with deeply nested brackets is refused before it is parsed', () => {
  for (const [open, close] of [
    ['(', ')'],
    ['[', ']'],
    ['{1: ', '}'],
    ['!(', ')'],
    ['f(', ')'],
    ['(")" + ', ')'],
    ["(')' + ", ')'],
    ['(r"\\" + ")" + ', ')'],
    ['(""" " ) """ + ', ')'],
    ['(")\\")" + ', ')'],
    ['( // )\n', ')'],
  ] as const) {
    assert.equal(isTooDeep(nested(open, close, CEL_DEPTH_MAX)), false, open);
    assert.equal(isTooDeep(nested(open, close, CEL_DEPTH_MAX + 1)), true, open);
  }
});

it('Brackets beside each other, and those of a text, do not count', () => {
  for (const text of [
    'f(1) + '.repeat(300),
    `event.name.matches("${'('.repeat(200)}")`,
    `r'${'['.repeat(200)}'`,
    ') '.repeat(100),
  ])
    assert.equal(isTooDeep(text), false);
});
