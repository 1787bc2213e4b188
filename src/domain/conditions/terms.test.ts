import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitTerms } from './terms.ts';

const ROWS: readonly (readonly [expression: string, terms: readonly string[]])[] = [
  ['event.name == "a"', ['event.name == "a"']],
  ['event.source == "generic" && event.name == "a"', ['event.source == "generic"', 'event.name == "a"']],
  ['a && (b && c) && d', ['a', '(b && c)', 'd']],
  ['event.name == "x && y" && b', ['event.name == "x && y"', 'b']],
  [String.raw`event.name == "\" && " && b`, [String.raw`event.name == "\" && "`, 'b']],
  [String.raw`event.name == r"\" && b`, [String.raw`event.name == r"\"`, 'b']],
  ["event.name == '''it's && so''' && b", ["event.name == '''it's && so'''", 'b']],
  ['a && b || c', ['a && b || c']],
  ['(a || b) && c', ['(a || b)', 'c']],
  ['a ? b && c : d', ['a ? b && c : d']],
  ['a // x && y\n && b', ['a // x && y', 'b']],
  ['event.labels["a && b"] in ["c", "d"] && e', ['event.labels["a && b"] in ["c", "d"]', 'e']],
];

for (const [expression, terms] of ROWS) {
  test(`the terms of ${expression.replaceAll('\n', ' ')} are ${terms.length}`, () =>
    assert.deepEqual(splitTerms(expression), terms));
}
