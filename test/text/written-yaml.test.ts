import assert from 'node:assert/strict';
import { test } from 'node:test';
import { block } from '../../src/faces/text/safe.ts';
import { readYaml } from '../../src/domain/yaml/file.ts';
import { writeYaml } from '../../src/domain/yaml/write.ts';

const TEXTS = [
  'plain',
  ' blanks ',
  'true',
  'null',
  '~',
  '1.10',
  '0x1F',
  '- x',
  '# x',
  'a: b',
  'a #b',
  '"quoted"',
  "it's",
  '*a',
  '&a',
  '!tag',
  '%x',
  '@x',
  '`x`',
  '{a}',
  '[a]',
  '---',
  '...',
  '--- x',
  '',
  '${event.labels["x"]}',
  '$${x}',
  'a\nb',
  'a\nb\n',
  'a\n\n\nb\n\n',
  '  a\n b',
  '\na',
  '\n',
  '# a\n--- b\n... c',
  'a \nb ',
  'a\n \n',
  'a\tb\n\tc',
  'a\rb\r\nc',
  'a\0b\u001b[31m\u007f\u0085',
  'a\u2028b\u2029c\ufeff',
  'a\u200db\u202ec\u{e0041}',
  'a\ud800b\u3164c\u00ad',
  'größer 😀',
  `${'long '.repeat(100)}\nx`,
  'x'.repeat(5_000),
];

test('YAML that is written is read as the same texts, and a terminal shows all of it', async () => {
  for (const text of [...TEXTS, ...TEXTS.map((each) => `x${each}`), ...TEXTS.map((each) => `${each}\\ \n`)]) {
    const written = await writeYaml({ one: text, many: [text, text], within: { deeper: text } });
    assert.equal(block(written), written, JSON.stringify(text));
    const map = await readYaml(written);
    assert.ok(map.kind === 'map');
    const [one, many, within] = ['one', 'many', 'within'].map((name) => map.fields.get(name));
    const deeper = within?.kind === 'map' ? within.fields.get('deeper') : undefined;
    for (const value of [one, ...(many?.kind === 'list' ? many.items : []), deeper])
      assert.deepEqual(value?.kind === 'text' && [value.type, value.text], ['string', text], written);
    assert.equal(many?.kind === 'list' && many.items.length, 2);
  }
});
