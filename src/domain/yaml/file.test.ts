import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../failure.ts';
import { readYaml, YAML_BYTES_MAX, YAML_LIMITS, type YamlLimits, type YamlValue } from './file.ts';

/** As plain as it gets: what is no text is marked. */
function plain(value: YamlValue): unknown {
  if (value.kind === 'list') return value.items.map(plain);
  if (value.kind === 'map') return [...value.fields].map(([name, each]) => [name, plain(each)]);
  return value.type === 'string' ? value.text : [value.type, value.text];
}

async function refused(text: string, message: RegExp, limits: YamlLimits = YAML_LIMITS): Promise<void> {
  await assert.rejects(readYaml(text, limits), (error) => {
    assert.ok(error instanceof Failure, `${text.slice(0, 40)} threw ${String(error)}`);
    assert.equal(error.code, 'invalid_argument');
    assert.match(error.message, message);
    assert.ok(error.message.length < 300, 'the message repeats the file');
    return true;
  });
}

describe('A YAML file', () => {
  test('is read as texts, lists and maps, and unquoted text keeps its spelling', async () => {
    const text = 'name: disk\nwords: [sleep, 5, 1.10, yes, true, ~, "7", 0x1F]\nwhen: |\n  a &&\n  b\n__proto__: 1\n';
    assert.deepEqual(plain(await readYaml(text)), [
      ['name', 'disk'],
      [
        'words',
        ['sleep', ['other', '5'], ['other', '1.10'], 'yes', ['boolean', 'true'], ['null', '~'], '7', ['other', '0x1F']],
      ],
      ['when', 'a &&\nb\n'],
      ['__proto__', ['other', '1']],
    ]);
  });

  test('may be JSON, and each part knows its line', async () => {
    const value = await readYaml('{\n  "a": [1,\n  "x"]}');
    assert.ok(value.kind === 'map');
    const list = value.fields.get('a');
    assert.ok(list?.kind === 'list');
    assert.deepEqual(
      list.items.map(({ line }) => line),
      [2, 3],
    );
  });

  test('is refused with its line if it cannot be parsed', async () => {
    await refused('a: [echo, ${event.name}]', /^file, line 1: .*; quote a value that holds .*\.$/);
    await refused('a: b\nc: ${x ? "y" : "z"}', /^file, line 2: .*; quote a value that holds .*\.$/);
    for (const text of ['a: "x" in y', "a: 'x' == y", 'a: ["x"].size() > 1', 'a: [1][0] == 1', 'a: {b: 1}.b == 1'])
      await refused(
        text,
        new RegExp(
          '^file, line 1: .*; quote a whole value, such as an expression, that begins with a quote, a bracket or ' +
            String.raw`"!": when: '"a" in event\.labels'\.$`,
        ),
      );
    await refused(
      'a: !has(x.y)',
      /^file, line 1: .*Unresolved tag: !has\(x\.y\)\); tags are not accepted; quote a value that begins with "!"\.$/,
    );
    await refused('a: 1\na: 2', /line 2: the name "a" was given more than once/);
    await refused('x: [{1: a, "1": b}]', /line 1: the name "1" was given more than once/);
    await refused('\ta: 1', /Tabs/);
    await refused('a: "x', /line 1: .*Missing closing/);
    await refused('', /^file: it is empty\.$/);
    await refused('a: 1\n---\nb: 2', /more than one document/);
    await refused('? [a]\n: b', /expected the name of a field/);
  });

  test('has no tag, no anchor and no alias', async () => {
    for (const text of ['a: !!binary x', 'a: !foo x', 'a: !!str 5', 'a: !!js/function x', '!!set {a}'])
      await refused(text, /[Tt]ag/);
    for (const text of ['a: &x 1\nb: *x', 'a: *x', 'a: &x [*x]', '&x a: 1'])
      await refused(text, /anchors and aliases|[Uu]nresolved alias/);
    const merged = await readYaml('a: {b: 1}\n<<: {c: 2}');
    assert.deepEqual(merged.kind === 'map' && [...merged.fields.keys()], ['a', '<<']);
  });

  test('has a bound for its size, and one for its depth', async () => {
    await refused(`a: ${'x'.repeat(YAML_BYTES_MAX)}`, /at most 65536 bytes/);
    await refused('['.repeat(60_000), /too many brackets/);
    await refused('['.repeat(1_900), /nested too deeply|cannot be read/);
    await refused('- '.repeat(5_000), /nested too deeply/);
    await refused(`${'{a: '.repeat(30)}1${'}'.repeat(30)}`, /nested too deeply/);
  });

  test('T97: is refused before it is parsed where it has more tokens than a person writes', async () => {
    const message = /^file: it has too many lines, quotes, dashes, colons or commas; expected at most 16000 in all\.$/;
    for (const token of ['-\n', 'a:\n', '\n', '#\n', ']', '}', 'a,', '"",', "'',", ': ', '? ', '! ', '&a ', '*a '])
      await refused(token.repeat(YAML_BYTES_MAX / token.length), message);
    const text = `a: ${'https://x-y.example/'.repeat(3_000)}`;
    assert.deepEqual(plain(await readYaml(text)), plain(await readYaml(`a: '${text.slice(3)}'`)));
  });
});

/** Lists of nine aliases, each of the list before. */
function laughs(levels: number): string {
  const rows = Array.from({ length: levels }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(9)}]\n`);
  return `l0: &l0 [a]\n${rows.join('')}`;
}

describe('A YAML file of another program', () => {
  const limits: YamlLimits = { ...YAML_LIMITS, bytesMax: 2 * 1024 * 1024, aliases: true };

  test('has its aliases and merge keys expanded, and own fields come before merged ones', async () => {
    const text = [
      'base: &base {a: 1, b: &b [x, y]}',
      'other: &other {b: z, c: 3}',
      'one: {<<: *base, a: 2}',
      'list:',
      '  b: own',
      '  <<: [*base, *other]',
      'again: *b',
      '"<<": text',
      'key: &k name',
      'map: {*k : v}',
      'inline: {<<: {d: 4}}',
      'new: &b w',
      'last: *b',
    ].join('\n');
    const value = plain(await readYaml(text, limits));
    const list = ['x', 'y'];
    assert.deepEqual(value, [
      ['base', [['a', ['other', '1']], ['b', list]]], // prettier-ignore
      ['other', [['b', 'z'], ['c', ['other', '3']]]], // prettier-ignore
      ['one', [['a', ['other', '2']], ['b', list]]], // prettier-ignore
      ['list', [['a', ['other', '1']], ['b', 'own'], ['c', ['other', '3']]]], // prettier-ignore
      ['again', list],
      ['<<', 'text'],
      ['key', 'name'],
      ['map', [['name', 'v']]],
      ['inline', [['d', ['other', '4']]]],
      ['new', 'w'],
      ['last', 'w'],
    ]);
  });

  test('names the line and the alias that is wrong', async () => {
    await refused('a: 1\nb: *x\n', /^file, line 2: the alias "\*x" has no anchor before it\.$/, limits);
    await refused('a: &x\n  - *x\n', /^file, line 2: the alias "\*x" is inside its own anchor\.$/, limits);
    await refused('a: &x 1\nb:\n  <<: *x\n', /^file, line 1: the merge key "<<" takes a map/, limits);
    await refused('a: &x {b: 1}\nc: {<<: *x, <<: *x}\n', /line 2: the name "<<" was given more than once/, limits);
    await refused('a: !foo &x 1\nb: *x', /tags are not accepted/, limits);
  });

  test('is refused where its aliases expand it to more than 10,000 values, 1 MiB or 20 levels', async () => {
    const bounds = 'to more than 10000 values or 1048576 bytes';
    await refused(laughs(9), new RegExp(`^file, line 5: the alias "\\*l3" expands the file ${bounds}\\.$`), limits);
    const words = `a: &a [${'x, '.repeat(4_900)}]\n`;
    assert.ok(await readYaml(`${words}b: *a\n`, limits));
    await refused(
      `${words}b: *a\nc: [${'x, '.repeat(300)}]\n`,
      new RegExp(`^file: its aliases expand it ${bounds}`),
      limits,
    );
    const long = `a: &a ${'x'.repeat(400_000)}\nb: *a\n`;
    assert.ok(await readYaml(long, limits));
    await refused(`${long}c: *a\n`, new RegExp(`^file, line 3: the alias "\\*a" expands the file ${bounds}`), limits);
    const deep = Array.from({ length: 12 }, (_, n) => `a${n + 1}: &a${n + 1} {b: {c: *a${n}}}\n`).join('');
    await refused(`a0: &a0 x\n${deep}`, /^file, line 11: it is nested too deeply\.$/, limits);
  });

  test('may have more values than that where it has no alias', async () => {
    const value = await readYaml(`a: &a [${'x, '.repeat(12_000)}]`, { ...limits, tokensMax: 100_000 });
    assert.equal(value.kind, 'map');
  });
});
