import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WEBHOOK_SOURCES } from '../../../domain/events/event.ts';
import { REPAIRED } from '../../../domain/events/message-refusal.ts';
import { normalise, refusal } from '../../../../test/support/events/payloads.ts';
import { repairJson } from './repair-json.ts';

function repaired(text: string): unknown {
  const repair = repairJson(text);
  return 'json' in repair ? JSON.parse(repair.json) : repair.stopsAt;
}

describe('A text that was meant to be JSON', () => {
  test('is read with each fault that templates and other languages make', () => {
    const table: readonly (readonly [string, string, unknown])[] = [
      ['a quote in a text', '{"a": "say "hi" to all", "b": "x"}', { a: 'say "hi" to all', b: 'x' }],
      ['a quote before a comma', '{"a": "is "x", not "y"", "b": 1}', { a: 'is "x", not "y"', b: 1 }],
      ['a quote before a brace', '{"a": "path "{x}" is full"}', { a: 'path "{x}" is full' }],
      ['a quoted word and a colon', '{"a": "the "disk": full"}', { a: 'the "disk": full' }],
      ['a line break and a tab in a text', '{"a": "one\n\ttwo\r\nthree"}', { a: 'one\n\ttwo\r\nthree' }],
      [
        'a path of Windows',
        String.raw`{"a": "C:\Users\x", "b": "\"q\" \u00e9 \'"}`,
        { a: 'C:\\Users\\x', b: '"q" é \'' },
      ],
      ['a comma too many', '{"a": [1, 2,], "b": {"c": 1,},}', { a: [1, 2], b: { c: 1 } }],
      ['a comma too few', '{"a": 1 "b": "x"\n"c": [{"d": 1} {"d": 2}]}', { a: 1, b: 'x', c: [{ d: 1 }, { d: 2 }] }],
      ['no number', '{"a": NaN, "b": -Infinity, "c": undefined}', { a: null, b: null, c: null }],
      ['a literal of Python', "{'a': True, 'b': None, 'c': 'it's \"x\"'}", { a: true, b: null, c: 'it\'s "x"' }],
      ['a literal of JavaScript', '{a: 1, b_c: "x"}', { a: 1, b_c: 'x' }],
      ['a value without quotes', '{"a": firing, "b": 12.5 %, "c": 007}', { a: 'firing', b: '12.5 %', c: '007' }],
      [
        'a value named like what objects have',
        '{"a": __proto__, "b": constructor}',
        { a: '__proto__', b: 'constructor' },
      ],
      ['a value that is missing', '{"a": , "b": }', { a: null, b: null }],
      ['a NUL at its end', '{"a": 1}\0\n', { a: 1 }],
      ['a backslash in a key', String.raw`{"a": "x", "b\"c": 1,}`, { a: 'x', 'b"c': 1 }],
    ];
    for (const [fault, text, expected] of table) {
      assert.throws(() => JSON.parse(text) as unknown, fault);
      assert.deepEqual(repaired(text), expected, fault);
    }
  });

  test('is refused with the place where it ends in the middle, or continues after its end', () => {
    assert.equal(repaired('{"a": "x", "b": "y'), 16);
    assert.equal(repaired('{"a": [1, 2'), 10);
    assert.equal(repaired('{"a": {"b": 1}'), 14);
    assert.equal(repaired('{"a": 1} {"a": 2}'), 9);
    assert.equal(repaired('['.repeat(200)), 101);
    assert.equal(repaired(`{"a": "${'"x'.repeat(1_001)}"}`), 2_007);
    assert.deepEqual(repaired(`{"a": "${'"x'.repeat(1_000)}"}`), { a: '"x'.repeat(1_000) });
  });
});

describe('A payload that is not JSON as it should be', () => {
  const NAMED = {
    generic: ['{"name": "x", "labels": {"a": "1 "2" 3"},}', 'x'],
    alertmanager: ['{"alerts": [{"status": "firing", "labels": {"alertname": "x", "text": "1 "2" 3"}},]}', 'x'],
    grafana: ['{"alerts": [{"status": "firing", "labels": {"alertname": "x"}, "values": {"A": NaN}}],}', 'x'],
    'uptime-kuma': ['{"heartbeat": {"status": 0, "msg": "no "x""}, "monitor": {"id": 1, "name": "x"}}', 'x'],
    gatus: ["{'name': 'x', 'status': 'TRIGGERED'}", 'x'],
    healthchecks: ['{"name": "x", "status": "down", "code": , "slug": "x"}', 'x'],
  } as const;

  test('is read with repairs from every sender, and one more sentence says so', () => {
    for (const source of WEBHOOK_SOURCES) {
      const [body, name] = NAMED[source];
      const { events, problems } = normalise(source, body);
      assert.deepEqual([events.map((event) => event.name), problems], [[name], [REPAIRED]], source);
    }
  });

  test('is found in the field of a form or a query, in a text of JSON, and in UTF-16', () => {
    const json = '{"name":"x","labels":{"a":"b & c"}}';
    const form = `payload=${encodeURIComponent(json)}`;
    const sent = [
      normalise('generic', form, { contentType: 'application/x-www-form-urlencoded' }),
      normalise('alertmanager', form),
      normalise('grafana', undefined, { query: `token=1&${form}`.slice('token=1&'.length) }),
      normalise('generic', JSON.stringify(json)),
    ];
    for (const { events, problems } of sent) {
      assert.deepEqual([events[0]?.name, events[0]?.labels['a'], problems], ['x', 'b & c', [REPAIRED]]);
    }
    const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(json, 'utf16le')]);
    assert.deepEqual(normalise('generic', wide).events[0]?.name, 'x');
  });

  test('has bytes that are not UTF-8 read as windows-1252, and no other character changed', () => {
    const body = Buffer.concat([
      Buffer.from('{"name":"Büro €: '),
      Buffer.from([0xfc, 0x80, 0xc3]),
      Buffer.from('","labels":{"ort":"Zürich"}}'),
    ]);
    const { events, problems } = normalise('generic', body);
    assert.deepEqual([events[0]?.name, events[0]?.labels['ort'], problems], ['Büro €: ü€Ã', 'Zürich', []]);
  });

  test('that was read without repairs, as JSON or as a form, gets none', () => {
    const form = { contentType: 'application/x-www-form-urlencoded' };
    const whole = normalise('generic', '\uFEFF{"name":"x","labels":{"a":"NaN, \'b\',"}}');
    assert.deepEqual([whole.events[0]?.labels['a'], whole.problems], ["NaN, 'b',", []]);
    const fields = normalise('generic', 'name=x&payload=%7B%22name%22%3A%22y%22%7D', form);
    assert.deepEqual([fields.events[0]?.name, fields.problems], ['x', []]);
  });

  test('that stays unreadable names the line and the column, and no value', () => {
    assert.equal(refusal('generic', '{\n  "name": "canary'), 'The payload is not JSON: line 2, column 11.');
    assert.equal(refusal('grafana', 'payload={"alerts":['), 'The payload is not JSON: line 1, column 12.');
    assert.equal(refusal('generic', '{"labels": {},}'), 'name: expected a non-empty text.');
  });
});
