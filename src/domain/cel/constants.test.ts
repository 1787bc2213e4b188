import type { CelInput } from '@bufbuild/cel';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkCel, lintConstants } from './cel.ts';
import { tryConstants } from './constants.ts';
import { celEnvironment } from './env.ts';
import { CelRefused } from './refused.ts';
import type { CelShape } from './shape.ts';

const TEXT: CelShape = { kind: 'text', length: 64 };
const ROOTS: Record<string, CelShape> = {
  event: {
    kind: 'record',
    what: 'event',
    fields: {
      name: TEXT,
      count: { kind: 'number' },
      labels: { kind: 'map', count: 64, of: TEXT },
      received_at: { kind: 'time' },
    },
  },
};

/** As an expression is checked when it is defined. */
async function define(text: string): Promise<void> {
  await checkCel(text, { roots: ROOTS });
  await lintConstants(text);
}

async function refused(text: string, message: string): Promise<void> {
  await assert.rejects(define(text), (thrown) => {
    assert.ok(thrown instanceof CelRefused, `${text} threw ${String(thrown)}`);
    assert.equal(thrown.message, message, text);
    return true;
  });
}

function unexpected(_expr: unknown, what: string): never {
  assert.fail(what);
}

describe('What an expression does with constants alone', () => {
  it('is tried at its definition, and a text that can not be read is told', async () => {
    await refused(
      'event.received_at > timestamp("2026-13-01T00:00:00Z")',
      'character 21: "2026-13-01T00:00:00Z" is no time; one is written as in timestamp("2026-01-31T08:00:00Z")',
    );
    await refused(
      'event.received_at > timestamp("2026-01-01T00:00:00Z") + duration("5 apples")',
      'character 57: "5 apples" is no duration; one is written with h, m, s and ms, as in duration("1h30m")',
    );
    await refused('int("abc") > 3', 'character 1: "abc" is no whole number');
    await refused('event.count > 3 && bool("yes")', 'character 20: "yes" is neither true nor false');
    await refused('int("a" + "b") > event.count', 'character 1: "ab" is no whole number');
    await refused(`int("${'z'.repeat(60)}") == 1`, `character 1: "${'z'.repeat(40)}" is no whole number`);
  });

  it('is tried at its definition, and what is wrong is told with its place', async () => {
    await refused('1/0 == 1', 'character 2: a division by zero');
    await refused('event.count ==\n  7 % (3 - 3)', 'line 2, character 4: a division by zero');
    await refused('[1][3] == 1', 'character 4: an index is beyond the end of a list');
    await refused(
      '{"a": event.count, "b": 1 + 1.5}.a == 1',
      'character 26: an operand is of the wrong type (int, double)',
    );
    await refused('{"a": 1}.b == 1', 'character 9: there is no field "b"');
    await refused('{"a": 1, "a": 2} == {"a": event.count}', 'character 1: two entries of a map have the same name');
    await refused('9223372036854775807 + 1 > event.count', 'character 20: a number is too large or too small');
    await refused(
      'timestamp("9999-12-31T00:00:00Z") + duration("9999h") > event.received_at',
      'character 34: a time or a duration is out of range',
    );
    await refused('-"a" == event.name', 'character 1: an operand is of the wrong type (string)');
    await refused('["1", "x"].map(t, int(t)) == [1, 2]', 'character 19: a value can not be converted');
  });

  it('is tried also where another term would hide that it fails', async () => {
    await refused('true || 1/0 == 1', 'character 10: a division by zero');
    await refused('event.count > 3 ? true : int("x") == 1', 'character 26: "x" is no whole number');
    await refused('event.labels.exists(l, l == string(int("x")))', 'character 36: "x" is no whole number');
    await refused('[1, 2].exists(n, n == 1 || 1/0 == n)', 'character 29: a division by zero');
  });

  it('may also be the divisor of what is no constant', async () => {
    await refused('event.count / 0 == 1', 'character 13: a division by zero');
    await refused('event.count % (2 - 2) == 1', 'character 13: a division by zero');
  });

  it('may also be the time zone that a time of the input is asked in', async () => {
    await refused(
      'event.received_at.getHours("Europe/Berln") < 6',
      'character 28: there is no time zone "Europe/Berln"; perhaps "Europe/Berlin" is meant',
    );
    await refused('event.received_at.getDayOfWeek("") == 0', 'character 32: there is no time zone ""');
    await refused(
      'event.received_at.getHours(5) < 6',
      'character 28: an operand is of the wrong type (timestamp, int)',
    );
  });

  it('is accepted where it works', async () => {
    const accepted = [
      '-5 < event.count && event.count / 2 > 1 && event.count % -3 == 0',
      'event.received_at.getHours("Europe/Berlin") < 6 && event.received_at.getHours("+02:00") < 6 && ' +
        'event.received_at.getHours() < 6',
      'event.received_at.getHours(event.labels.zone) < 6',
      'event.received_at - timestamp("2026-01-01T00:00:00Z") > duration("24h") + duration("1h30m")',
      '(event.received_at - timestamp("2026-01-01T00:00:00Z")).getHours() > 5',
      'event.received_at + duration("1h") > timestamp("2026-01-01T00:00:00Z") - duration("5m")',
      'event.name in ["a", "b"] && {"a": 1}["a"] == 1 && has({"a": 1}.b) == false && [[1], [2]][1][0] == 2',
      'event.labels.exists(l, ["a", "b"].map(p, p + "x") == [l])',
      '[1, 2, 3].filter(n, n > 1).map(n, n * 2) == [4, 6] && [1, 0].exists(n, 4 / n == 4)',
      '1.0 / 0.0 > 1.0 && 1 == 1.0 && b"a" == bytes("a") && 1u + 2u == 3u',
    ];
    for (const text of accepted) await assert.doesNotReject(define(text), text);
  });

  it('is not tried where the expression is only loaded: what was accepted once yields what it yielded', async () => {
    const cases: readonly (readonly [string, unknown])[] = [
      ['true || 1/0 == 1', { value: true }],
      ['event.count == 3 || int("x") == 1', { value: true }],
      ['1/0 == 1', { error: 'in the expression: a division by zero' }],
    ];
    for (const [text, outcome] of cases) {
      const checked = await checkCel(text, { roots: ROOTS });
      assert.deepEqual(checked.run({ event: new Map([['count', 3n]]) }), outcome, text);
    }
  });

  it('is worked out once, however deep in loops it stands, so that the steps that were reckoned bound the trial', async () => {
    const made = await celEnvironment();
    const { cel } = made;
    let calls = 0;
    const tick = cel.celFunc('tick', [cel.CelScalar.INT], cel.CelScalar.INT, (value) => {
      calls += 1;
      return value;
    });
    const environment = { ...made, env: cel.celEnv({ funcs: [tick] }) };
    const tried = (text: string): number => {
      calls = 0;
      tryConstants(cel.parse(text).expr, { environment, refuse: unexpected, text });
      return calls;
    };
    assert.equal(tried('tick(1) + 1 > 1 && (tick(2) + 1) * 2 == event.count'), 2);
    assert.equal(tried('[1, 2].all(a, [1, 2, 3].all(b, tick(b) > 0))'), 3);
    assert.equal(tried('event.items.all(a, [1].all(b, [1].all(c, tick(c) > 0)))'), 1);
    assert.equal(tried('[1, 2].all(a, [1, 2, 3].all(b, tick(a) > 0))'), 6);
    assert.equal(tried('event.items.all(a, tick(a) > 0)'), 0);
  });
});

describe('A time and a duration', () => {
  it('are not taken for each other', async () => {
    await refused(
      'event.received_at > duration("5m")',
      'character 19: a time is compared with a duration, which can never be right',
    );
    await refused(
      'event.received_at - event.received_at > event.received_at',
      'character 39: a duration is compared with a time, which can never be right',
    );
    await refused(
      'duration("5m") - event.received_at > duration("1m")',
      'character 15: a time can not be subtracted from a duration',
    );
    await refused(
      'event.received_at + event.received_at > event.received_at',
      'character 19: a time can not be added to a time',
    );
    await refused(
      '(event.received_at - event.received_at).getHours("UTC") > 5',
      'character 40: a duration has getHours(), getMinutes(), getSeconds(), getMilliseconds(), and no time zone',
    );
    await refused('event.name.getHours() > 5', 'character 11: getHours is asked of a time, and this is a text');
  });
});

describe('Brackets', () => {
  it('look into lists and maps, and not into a text, a number or a time', async () => {
    await refused(
      'event.labels.x[0] == "a"',
      'character 15: a text can not be indexed; ask with startsWith, contains or matches what is in it',
    );
    await refused(
      'event.name["a"] == "a"',
      'character 11: a text can not be indexed; ask with startsWith, contains or matches what is in it',
    );
    await refused('event.count[0] == 1', 'character 12: a number can not be indexed');
    await refused('event.received_at["hour"] == 1', 'character 18: a time can not be indexed');
  });
});

describe('An error of an evaluation', () => {
  it('says what is wrong, without any value of the input', async () => {
    const canary = 'Canary/Town7f3a';
    const { cel } = await celEnvironment();
    const now = cel.plan(cel.celEnv({}), cel.parse('timestamp(0)').expr)() as CelInput;
    const event = new Map<string, CelInput>([
      ['name', canary],
      ['labels', new Map([['zone', canary]])],
      ['received_at', now],
      ['count', 3n],
    ]);
    const cases: readonly (readonly [string, string])[] = [
      ['event.received_at.getHours(event.labels.zone) < 6', 'character 18: the time zone is not known'],
      ['event.received_at > timestamp(event.name)', 'character 21: a value can not be converted to a time'],
      ['duration("1h") > duration(event.name)', 'character 18: a value can not be converted to a duration'],
      ['5 / (event.name.size() - 15) > 1', 'in the expression: a division by zero'],
      ['event.count * 1.5 > 3.0', 'character 13: an operand is of the wrong type (int, double)'],
      ['{event.name: 1, event.labels.zone: 2}.size() == 1', 'character 1: two entries of a map have the same name'],
      ['event.name == "x" ||\n  int(event.name) == 5', 'line 2, character 3: a value can not be converted'],
    ];
    for (const [text, error] of cases) {
      const checked = await checkCel(text, { roots: ROOTS });
      assert.deepEqual(checked.run({ event }), { error }, text);
    }
  });
});
