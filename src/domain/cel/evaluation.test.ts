import type { CelInput } from '@bufbuild/cel';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkCel } from './cel.ts';
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

async function refused(text: string, message: string): Promise<void> {
  await assert.rejects(checkCel(text, { roots: ROOTS }), (thrown) => {
    assert.ok(thrown instanceof CelRefused, `${text} threw ${String(thrown)}`);
    assert.equal(thrown.message, message, text);
    return true;
  });
}

describe('What an expression does with constants alone', () => {
  it('is not evaluated at its definition: if it fails, the evaluation reports it', async () => {
    const cases: readonly (readonly [string, unknown])[] = [
      ['1/0 == 1', { error: 'in the expression: a division by zero' }],
      ['duration("5 apples") > duration("1h")', { error: 'character 1: a value cannot be converted to a duration' }],
      ['true || 1/0 == 1', { value: true }],
      ['event.count == 3 || int("x") == 1', { value: true }],
    ];
    for (const [text, outcome] of cases) {
      const checked = await checkCel(text, { roots: ROOTS });
      assert.deepEqual(checked.run({ event: new Map([['count', 3n]]) }), outcome, text);
    }
  });
});

describe('A time and a duration', () => {
  it('are not interchangeable', async () => {
    await refused(
      'event.received_at > duration("5m")',
      'character 19: a time is compared with a duration, which is never true',
    );
    await refused(
      'event.received_at - event.received_at > event.received_at',
      'character 39: a duration is compared with a time, which is never true',
    );
    await refused(
      'duration("5m") - event.received_at > duration("1m")',
      'character 15: a time cannot be subtracted from a duration',
    );
    await refused(
      'event.received_at + event.received_at > event.received_at',
      'character 19: a time cannot be added to a time',
    );
    await refused(
      '(event.received_at - event.received_at).getHours("UTC") > 5',
      'character 40: a duration has getHours(), getMinutes(), getSeconds(), getMilliseconds(), and no time zone',
    );
    await refused('event.name.getHours() > 5', 'character 11: getHours needs a time, and this is a text');
  });
});

describe('Brackets', () => {
  it('index lists and maps, but not a text, a number or a time', async () => {
    await refused(
      'event.labels.x[0] == "a"',
      'character 15: a text cannot be indexed; use startsWith, contains or matches',
    );
    await refused(
      'event.name["a"] == "a"',
      'character 11: a text cannot be indexed; use startsWith, contains or matches',
    );
    await refused('event.count[0] == 1', 'character 12: a number cannot be indexed');
    await refused('event.received_at["hour"] == 1', 'character 18: a time cannot be indexed');
  });
});

describe('An error of an evaluation', () => {
  it('names the fault without any value of the input', async () => {
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
      ['double(event.name) > 1.0', 'character 1: event.name cannot be converted to a number'],
      ['event.received_at > timestamp(event.name)', 'character 21: event.name cannot be converted to a time'],
      ['duration("1h") > duration(event.name)', 'character 18: event.name cannot be converted to a duration'],
      ['5 / (event.name.size() - 15) > 1', 'in the expression: a division by zero'],
      ['event.count * 1.5 > 3.0', 'character 13: an operand is of the wrong type (int, double)'],
      ['{event.name: 1, event.labels.zone: 2}.size() == 1', 'character 1: two entries of a map have the same name'],
      [
        'event.name == "x" ||\n  int(event.name) == 5',
        'line 2, character 3: event.name cannot be converted to an integer',
      ],
    ];
    for (const [text, error] of cases) {
      const checked = await checkCel(text, { roots: ROOTS });
      assert.deepEqual(checked.run({ event }), { error }, text);
    }
  });
});
