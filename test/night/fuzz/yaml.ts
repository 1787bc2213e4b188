/** Anchors, aliases and merge keys in files of other programs: whatever is accepted is bounded when it is expanded. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { readYaml, YAML_LIMITS, type YamlValue } from '../../../src/domain/yaml/file.ts';

import { type FuzzTarget, fuzzTarget, unlessRefused } from './target.ts';
import { texts } from './texts.ts';

const ALIASES = [
  'a: &a {b: 1}\n',
  'b: &b [x, *a]\n',
  'c: {<<: *a, d: *b}\n',
  'e: &a [*b, *b, *b]\n',
  '<<: [*a, *b]\n',
  '  <<: *a\n',
  '  - &c *a\n',
  '*a : x\n',
  '&k k: v\n',
  'm:\n',
  '  n: *a\n',
  '&a ',
  '*a ',
  '*b, ',
  '[',
  ']',
  '{',
  '}',
];
/** What the reader promises of a file with aliases. */
const NODES_MAX = 10_000;
/** More levels than the reader accepts would be a loop. */
const LEVELS_MAX = YAML_LIMITS.depthMax + 2;

/** Lines that each name the line before several times. */
const laughs = fc
  .tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 12 }), fc.boolean())
  .map(([lines, times, isMap]) =>
    Array.from({ length: lines }, (_, n) => {
      const words = n === 0 ? ['{x: y}'] : Array.from({ length: times }, () => `*l${n - 1}`);
      return isMap ? `l${n}: &l${n} {<<: [${words.join(', ')}], k${n}: v}\n` : `l${n}: &l${n} [${words.join(', ')}]\n`;
    }).join(''),
  );

/** The values of the expanded tree, as far as they are few enough. */
function sizeOf(value: YamlValue, left: number, levels: number): number {
  assert.ok(levels <= LEVELS_MAX, 'the value is in itself');
  if (value.kind === 'text') return 1;
  let size = 1;
  for (const part of value.kind === 'list' ? value.items : value.fields.values()) {
    size += sizeOf(part, left - size, levels + 1);
    assert.ok(size <= left, 'the expanded file is too large');
  }
  return size;
}

export const YAML_TARGETS: readonly FuzzTarget[] = [
  fuzzTarget(
    'yaml-aliases',
    fc.oneof({ weight: 3, arbitrary: texts(ALIASES, 16_384) }, { weight: 1, arbitrary: laughs }),
    async (text) => {
      const value = await unlessRefused(() => readYaml(text, { ...YAML_LIMITS, aliases: true }));
      if (value === undefined) return;
      const hasAlias = text.includes('*');
      sizeOf(value, hasAlias ? NODES_MAX : YAML_LIMITS.tokensMax * 2, 0);
    },
    { baseMs: 100, perCharacterMs: 0.02 },
  ),
];
