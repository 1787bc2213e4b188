import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CelRefused } from '../cel/refused.ts';
import type { EventFacts } from '../events/event.ts';
import type { CelAnswer } from '../cel/cel.ts';
import { compileCondition, storedCondition } from './condition.ts';

const RECEIVED = Date.UTC(2026, 10, 21, 13, 5);

function event(some: Partial<EventFacts> = {}): EventFacts {
  return {
    source: 'alertmanager',
    name: 'DiskFull',
    status: 'firing',
    severity: 'critical',
    fingerprint: 'f1',
    labels: { alertname: 'DiskFull', instance: 'web1:9100', 'app.kubernetes.io/name': 'shop' },
    annotations: { summary: 'the disk is full' },
    netgroup: 'away',
    receivedAt: RECEIVED,
    ...some,
  };
}

async function answer(expression: string, facts = event()): Promise<CelAnswer> {
  return (await compileCondition(expression)).evaluate(facts);
}

async function refused(expression: string, message: RegExp): Promise<void> {
  await assert.rejects(compileCondition(expression), (error) => {
    assert.ok(error instanceof CelRefused, `${expression.slice(0, 60)} threw ${String(error)}`);
    assert.match(error.message, message);
    return true;
  });
}

describe('A condition over an event', () => {
  test('sees all that the event has', async () => {
    const right = [
      'event.source == "alertmanager" && event.status == "firing" && event.labels.alertname == "DiskFull"',
      'event.name.startsWith("Disk") && event.fingerprint == "f1" && event.netgroup == "away"',
      'event.severity in ["critical", "page"]',
      'event.labels["app.kubernetes.io/name"] == "shop"',
      'has(event.labels.instance) && !has(event.labels.job) && !("job" in event.labels)',
      'event.annotations.summary.contains("full")',
      'event.labels.instance.matches("^web[0-9]+:")',
      'event.labels.exists(k, event.labels[k] == "shop")',
      'event.received_at == timestamp("2026-11-21T13:05:00Z")',
      'event.received_at.getHours() == 13 && event.received_at.getHours("Europe/Berlin") == 14',
      'event.received_at - duration("1h") < timestamp("2026-11-21T12:06:00Z")',
      'size(event.labels) == 3',
    ];
    for (const expression of right) assert.deepEqual(await answer(expression), { value: true }, expression);
  });

  test('sees an empty text where the sender gave nothing, so that a comparison is false and not an error', async () => {
    const bare = event({ name: '', status: null, severity: null, netgroup: null });
    for (const [field, other] of [
      ['name', 'x'],
      ['status', 'firing'],
      ['severity', 'x'],
      ['netgroup', 'x'],
    ] as const) {
      assert.deepEqual(await answer(`event.${field} == "${other}"`, bare), { value: false });
      assert.deepEqual(await answer(`event.${field} == ""`, bare), { value: true });
      await refused(`event.${field} == null`, /a text is compared with null/);
    }
  });

  test('reads a label or an annotation that the event does not have as an empty text', async () => {
    const right = [
      'event.labels.job == "" && event.labels.job != "x"',
      'event.labels["job"] == "" && event.annotations.job == ""',
      'event.labels.job == event.annotations.job',
      'event.labels["j" + "ob"] == "" && event.labels[event.name] == ""',
      'size(event.labels.job) == 0 && event.labels.job.matches("^$")',
      '[event.labels, event.annotations].all(m, m.job == "" && m["job"] == "" && !has(m.job) && !("job" in m))',
      '!has(event.labels.job) && !("job" in event.labels) && !has(event.annotations.job)',
      'has(event.labels.instance) && "instance" in event.labels && "summary" in event.annotations',
      'size(event.labels) == 3 && !event.labels.exists(k, k == "job")',
    ];
    for (const expression of right) assert.deepEqual(await answer(expression), { value: true }, expression);
    const empty = event({ labels: { job: '' } });
    for (const expression of ['event.labels.job == ""', 'has(event.labels.job)', '"job" in event.labels'])
      assert.deepEqual(await answer(expression, empty), { value: true }, expression);
    assert.deepEqual(await answer('int(event.labels.job) == 1'), {
      error: 'character 1: event.labels.job cannot be converted to an integer',
    });
  });

  test('F23: is neither true nor an exception for a poisonous event', async () => {
    const poison: Record<string, EventFacts> = {
      'names that every object has': event({
        labels: JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}') as Record<string, string>,
      }),
      'half a surrogate pair': event({ name: '\ud800', labels: { '\udfff': '\ud800' } }),
      'very long values': event({ labels: { alertname: 'x'.repeat(1_000_000) } }),
      'a time out of range': event({ receivedAt: Number.MAX_SAFE_INTEGER }),
      'no time': event({ receivedAt: Number.NaN }),
    };
    const conditions = [
      'event.labels.alertname == "Nothing"',
      'event.labels.constructor.matches("^z")',
      'event.received_at.getHours() > 99',
      'event.name.startsWith("Z")',
    ];
    for (const expression of conditions) {
      const compiled = await compileCondition(expression);
      for (const [what, facts] of Object.entries(poison)) {
        const result = compiled.evaluate(facts);
        assert.ok('error' in result || !result.value, `${expression} for ${what}`);
      }
    }
  });

  test('that is wrong for every event is refused when it is defined', async () => {
    await refused('event.lables.x == "y"', /event has no field "lables"; perhaps "labels" is meant/);
    await refused('event.labels', /must yield true or false; it yields a map/);
    await refused('event.name', /must yield true or false; it yields a text/);
    await refused('event.name == "x" ? event.name : true', /must yield true or false/);
    await refused(
      'event.source == "prometheus" && event.name == "x"',
      /no event has the source "prometheus"; expected one of generic, alertmanager/,
    );
    await refused(
      'event.name == "x" && event.status == "fireing"',
      /no event has the status "fireing"; expected firing, resolved or, if the sender gave none, an empty text/,
    );
    await refused('event.source in ["grafana", "nagios"]', /no event has the source "nagios"/);
    await refused('event.received_at > "2026"', /a time is compared with a text|can never be right|cannot be called/);
    await refused('alert.name == "x"', /no name "alert" here/);
  });

  test('says which sources it can be true for', async () => {
    const cases: readonly (readonly [string, readonly string[] | null])[] = [
      ['event.source == "generic"', ['generic']],
      ['"generic" == event.source && event.name == "x"', ['generic']],
      ['event.name == "x" && (event.status == "firing" && event.source == "check")', ['check']],
      ['event.source in ["grafana", "alertmanager"] && true', ['grafana', 'alertmanager']],
      ['event["source"] == "generic"', ['generic']],
      ['event.source == "generic" || event.name == "x"', null],
      ['!(event.source == "generic")', null],
      ['event.source != "generic"', null],
      ['event.source == event.name', null],
      ['event.source in ["grafana", event.name]', null],
      ['event.name == "generic"', null],
      ['true', null],
    ];
    for (const [expression, sources] of cases)
      assert.deepEqual((await compileCondition(expression)).sources, sources, expression);
  });
});

describe('A condition that is stored', () => {
  test('is an error for events of the sources that it names, where this version refuses it, else false', async () => {
    const error = { error: 'character 53: a time is compared with a duration, which is never true' };
    const stored = await storedCondition('event.source == "alertmanager" && event.received_at > duration("5m")');
    assert.deepEqual(stored.sources, ['alertmanager']);
    assert.deepEqual(stored.evaluate(event()), error);
    assert.deepEqual(stored.evaluate(event({ source: 'generic' })), { value: false });
    const open = await storedCondition('event.name == "x" || event.received_at > duration("5m")');
    assert.deepEqual([open.sources, Object.keys(open.evaluate(event()))], [null, ['error']]);
    const unread = await storedCondition('event.source == "generic" &&');
    assert.deepEqual([unread.sources, Object.keys(unread.evaluate(event()))], [null, ['error']]);
  });
});
