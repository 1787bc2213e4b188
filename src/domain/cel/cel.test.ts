import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CelAnswer, CEL_LENGTH_MAX, compileCel, type CelOptions } from './cel.ts';
import { INNER_LOOP_MAX } from './check.ts';
import { CelRefused } from './refused.ts';
import type { CelShape } from './shape.ts';

/** Something like an event, so that what rules will need is held here too. */
const TEXT: CelShape = { kind: 'text', length: 64 };
const OPTIONS: CelOptions = {
  roots: {
    event: {
      kind: 'record',
      what: 'an event',
      fields: {
        name: TEXT,
        count: { kind: 'number' },
        labels: { kind: 'map', count: 64, of: TEXT },
        items: { kind: 'list', count: 5_000, of: TEXT },
      },
    },
  },
  samples: [{ name: 'a sample', values: { event: { name: 'disk', count: 3, labels: { host: 'a' }, items: ['x'] } } }],
};

async function answer(text: string, event: object): Promise<CelAnswer> {
  const compiled = await compileCel(text, { ...OPTIONS, samples: [] });
  return compiled.evaluate({ event });
}

async function refused(text: string, expected: RegExp): Promise<void> {
  await assert.rejects(compileCel(text, OPTIONS), (thrown) => {
    assert.ok(thrown instanceof CelRefused, `${text.slice(0, 80)} threw ${String(thrown)}`);
    assert.match(thrown.message, expected);
    return true;
  });
}

const ones = (count: number): string => `[${Array.from({ length: count }, () => '1').join(',')}]`;

const REFUSED: Record<string, readonly [string, RegExp]> = {
  'an empty text': ['  ', /empty/],
  'a text that is too long': [`true || ${' '.repeat(CEL_LENGTH_MAX)}true`, /longer than 4096/],
  'a text that is no expression': ['event.count > > 3', /character \d+/],
  'an unknown root, with the one that was meant': ['evnet.count > 3', /character 1: .*"evnet".*"event" is meant/],
  'a name that every object has': ['constructor == 1', /no name "constructor"/],
  'a field that every object has': ['event.__proto__ == "x"', /no field "__proto__"/],
  'an unknown field, with the one that was meant': [
    'event.naem == "x"',
    /an event has no field "naem".*"name" is meant/,
  ],
  'an unknown field that is only asked for': ['has(event.naem)', /"name" is meant/],
  'an unknown field in brackets': ['event["naem"] == "x"', /"name" is meant/],
  'an unknown field behind a short circuit': ['true || event.naem == "x"', /"name" is meant/],
  'an unknown function, with the one that was meant': [
    'event.name.startWith("d")',
    /no function "startWith"; perhaps "startsWith"/,
  ],
  'a function of types': ['type(event.count) == event.name', /no function "type"/],
  'a message type': ['google.protobuf.Duration{} == duration("1s")', /message types/],
  'a macro without its name': ['event.items.exists(true)', /exists takes a name and a condition/],
  'a wrong number of operands': ['event.name.contains() ', /contains cannot be called like this/],
  'a loop over a text': ['event.name.all(c, c == "a")', /runs over a list, and this is a text/],
  'a name outside of its loop': ['event.items.exists(e, e == "x") && e == "y"', /no name "e"/],
  'a pattern that is not written out': ['event.name.matches(event.name)', /written out/],
  'a pattern that does not compile': ['event.name.matches("(a")', /pattern is not valid: missing closing/],
  'a pattern that does not compile behind a short circuit': [
    'false && event.name.matches("[z-a]")',
    /pattern is not valid/,
  ],
  'a pattern that is too large': ['event.name.matches("(a?){1000}")', /too large/],
  'a pattern that is too long': [`event.name.matches("${'a'.repeat(257)}")`, /longer than 256/],
  'a result that is no condition': ['event.count + 1', /must yield true or false/],
  'a result that is sometimes no condition': [
    'event.count == 3 ? event.name : true',
    /a sample .*neither true nor false/,
  ],
  'an operand that is no condition': [
    'event.items && true',
    /a condition is expected, and this is a list; compare its size\(\)/,
  ],
  'a comparison of a text with a number': ['event.name == 3', /a text is compared with a number/],
  'a number that is looked for among texts': [
    '3 in event.items',
    /a number is looked up in a list whose entries are each a text/,
  ],
  'a sum of a text and a number': ['event.name + 1 == "x"', /cannot be added/],
  'what fails for the sample': [
    'event.labels.nope == "x"',
    /for a sample the expression fails: .*there is no field "nope"/,
  ],
  'a loop over an input inside a loop': [
    'event.items.all(a, event.items.all(b, a == b))',
    /inside another loop, all may only run over a literal list/,
  ],
  'a loop over the name of another': ['[event.items].all(a, a.all(b, b == "x"))', /inside another loop/],
  'a long literal list inside a loop': [
    `event.items.all(a, ${ones(INNER_LOOP_MAX + 1)}.all(b, b == 1))`,
    /at most 100 elements/,
  ],
  'written lists that multiply': [
    `event.items.all(a, ${ones(90)}.all(b, ${ones(90)}.all(c, b == c)))`,
    /too many steps/,
  ],
  'a search through an input for each entry of it': ['event.items.all(a, a in event.items)', /too many steps/],
  'a comparison of inputs for each entry': ['event.items.all(a, event.items == event.items)', /too many steps/],
  'a text that doubles with each loop': [`["aa"]${'.map(a, a + a)'.repeat(60)}.exists(a, a == "b")`, /too many steps/],
  'a list that doubles with each loop': [
    `[[1, 1]]${'.map(a, a + a)'.repeat(60)}[0].exists(a, a == 2)`,
    /too many steps/,
  ],
  '5,000 parentheses': [`${'('.repeat(5_000)}true${')'.repeat(5_000)}`, /longer than/],
  'the most parentheses that fit': [`${'('.repeat(2_046)}true${')'.repeat(2_046)}`, /nested too deeply/],
  '2,000 open brackets': ['['.repeat(2_000), /nested too deeply/],
  'more than 100 levels': [`${Array.from({ length: 120 }, () => '1').join('+')} > 1`, /nested deeper than 100/],
  'more than 2,000 parts': [`[${'1,'.repeat(2_030)}1] == []`, /more than 2000 parts/],
};

describe('A CEL expression is refused at its definition for', () => {
  for (const [what, [text, expected]] of Object.entries(REFUSED)) it(what, () => refused(text, expected));

  it('`and`, `or` and `=`, with what to write for them', async () => {
    await refused('event.count > 3 and true', /write && for and/);
    await refused('event.count > 3 or true', /write \|\| for or/);
    await refused('event.count = 3', /write == to compare/);
  });
});

describe('An accepted CEL expression', () => {
  it('answers true or false', async () => {
    assert.deepEqual(await answer('event.count > 2 && event.name == "disk"', { count: 3, name: 'disk' }), {
      value: true,
    });
    assert.deepEqual(await answer('event.name.matches("^d.s")', { name: 'dusk' }), { value: true });
    assert.deepEqual(await answer('event.labels.host in ["a", "b"]', { labels: { host: 'c' } }), { value: false });
    assert.deepEqual(
      await answer('event.items.exists(i, ["x", "y"].exists(p, i.startsWith(p)))', { items: ['a', 'yz'] }),
      { value: true },
    );
  });

  it('sees whole numbers as integers', async () => {
    assert.deepEqual(await answer('event.count % 2 == 1', { count: 3 }), { value: true });
    assert.deepEqual(await answer('event.count > 2', { count: 2.5 }), { value: true });
  });

  it('returns an error, never an exception and never a value of the input, where it fails', async () => {
    const canary = 'canary-7f3a';
    const failing: [string, object, RegExp][] = [
      ['int(event.name) == 3', { name: canary }, /event\.name cannot be converted to an integer/],
      ['event.items[5] == "x"', { items: [canary] }, /beyond the end/],
      ['event.labels[event.name] == "x"', { name: canary, labels: {} }, /a field is missing/],
      ['event.labels.host == "x"', { labels: {} }, /there is no field "host"/],
      ['10 / event.count == 1', { count: 0 }, /division by zero/],
      ['event.count + 9223372036854775807 > 0', { count: 1 }, /too large/],
      ['timestamp(event.name) > timestamp("2026-01-01T00:00:00Z")', { name: canary }, /cannot be converted/],
      ['event.count > 1', { count: canary }, /wrong type/],
      ['event.labels.host', { labels: { host: canary } }, /neither true nor false/],
    ];
    for (const [text, event, expected] of failing) {
      const compiled = text === 'event.labels.host' ? await loose(text, event) : await answer(text, event);
      assert.ok('error' in compiled, text);
      assert.match(compiled.error, expected);
      assert.doesNotMatch(compiled.error, new RegExp(canary));
    }
  });

  it('is not tripped by names that every object has', async () => {
    const labels = JSON.parse('{"constructor": "a", "__proto__": "b", "hasOwnProperty": "c"}') as object;
    assert.deepEqual(await answer('event.labels.constructor == "a" && event.labels["__proto__"] == "b"', { labels }), {
      value: true,
    });
    assert.deepEqual(await answer('has(event.labels.toString)', { labels }), { value: false });
    assert.deepEqual(await answer('"x" in {"constructor": 1}', {}), { value: false });
  });

  it('collects 5,000 entries and looks through them without overflowing the stack', async () => {
    const items = Array.from({ length: 5_000 }, (_, index) => `i${index}`);
    assert.deepEqual(await answer('"i4999" in event.items.map(i, i)', { items }), { value: true });
    assert.deepEqual(
      await answer('event.items.filter(i, i != "i0").map(i, i + "!").exists(i, i == "i4999!")', { items }),
      { value: true },
    );
    assert.deepEqual(await answer('event.items.map(i, i) == event.items', { items }), { value: true });
  });

  it('collects again each time, also where one list is made from another', async () => {
    const text =
      'event.items.map(i, i + "x") == event.items.map(i, i).map(i, i + "x") && event.items.map(i, i).size() == ' +
      'event.items.size()';
    const compiled = await compileCel(text, { ...OPTIONS, samples: [] });
    for (const items of [[], ['a'], ['a', 'b'], ['a', 'b', 'c']])
      assert.deepEqual(compiled.evaluate({ event: { items } }), { value: true });
    assert.deepEqual(await answer('[1, 2].map(a, [3, 4].map(b, a * b)) == [[3, 4], [6, 8]]', {}), { value: true });
  });

  it('passes patterns that stall a backtracking engine in linear time', async () => {
    assert.deepEqual(await answer('event.name.matches("^(a+)+$")', { name: `${'a'.repeat(5_000)}!` }), {
      value: false,
    });
  });
});

/** What the check lets pass because its shape is not known. */
async function loose(text: string, event: object): Promise<CelAnswer> {
  const compiled = await compileCel(text, { roots: { event: { kind: 'unknown', weight: 1 } }, samples: [] });
  return compiled.evaluate({ event });
}
