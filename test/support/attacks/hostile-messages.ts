/** Messages that cost each parser of the ingress the most: by length, by nesting, by number. */
import type { WebhookSource } from '../../../src/domain/events/event.ts';

export interface HostileMessage {
  readonly name: string;
  readonly source: WebhookSource;
  readonly contentType: string;
  readonly body: string;
}

/** Repeated inside a text; each made an expression of some parser slow, or would do so in a careless one. */
const UNITS = [
  'a',
  '-',
  '-a',
  'a=',
  'a:',
  'a: ',
  '?a',
  '?a=%',
  '=',
  '://',
  '://x@',
  ' -u ',
  ' -u a:',
  '--a b ',
  'basic ',
  'authorization',
  'authorization: ',
  'token=x ',
  'a=\\"',
  '\\"a\\": \\"',
  '\\u0041',
  '\\u0000',
  '\\"',
  '\\\\',
  '😀',
  'é',
  ' ',
  '\\n',
];

function json(source: WebhookSource, name: string, body: string): HostileMessage {
  return { source, name, contentType: 'application/json', body };
}

/** Each has about `size` bytes. */
export function hostileMessages(size: number): HostileMessage[] {
  const fill = (unit: string, length = size): string => unit.repeat(Math.ceil(length / Buffer.byteLength(unit)));
  const list = (item: (n: number) => string): string => {
    const each = item(1).length + 3;
    return Array.from({ length: Math.floor(size / each) }, (_, n) => item(n)).join(',');
  };
  const texts = UNITS.flatMap((unit) => [
    json('generic', `a name of ${unit}`, `{"name":"${fill(unit)}"}`),
    json('generic', `a label of ${unit}`, `{"name":"x","labels":{"a":"${fill(unit)}","${fill(unit, 3_000)}":1}}`),
    json('alertmanager', `labels of ${unit}`, `{"alerts":[${list(() => `{"labels":{"a":"${fill(unit, 2_400)}"}}`)}]}`),
  ]);
  const alert = (n: number): string =>
    `{"status":"firing","labels":{"alertname":"A","n":"${n}"},"annotations":{"s":"${fill('s', 25)}"}}`;
  const alerts = Array.from({ length: Math.min(10_000, Math.floor(size / 110)) }, (_, n) => alert(n));
  return [
    ...texts,
    json('generic', 'lists in lists', fill('[')),
    json('generic', 'objects in objects', fill('{"a":')),
    json('generic', 'empty objects', `[${fill('{},')}{}]`),
    json('generic', 'numbers', `[${fill('0,')}0]`),
    json('generic', 'a long number', `{"name":"x","labels":{"a":${fill('9')}}}`),
    json('generic', 'numbers out of range', `{"name":"x","labels":{"a":[${fill('1e999,')}1]}}`),
    json('generic', 'many labels', `{"name":"x","labels":{${list((n) => `"k${n}":1`)}}}`),
    json('generic', 'many labels with numbers as names', `{"name":"x","labels":{${list((n) => `"${n * 65_537}":1`)}}}`),
    json('generic', 'one label many times', `{"name":"x","labels":{${list(() => '"k":1')}}}`),
    json('generic', 'a long fingerprint', `{"name":"x","fingerprint":"${fill('f')}"}`),
    json('generic', 'a long status', `{"name":"x","status":"${fill(' ')}"}`),
    json('alertmanager', 'tiny alerts', `{"alerts":[${list(() => '{"labels":{"a":1}}')}]}`),
    json('alertmanager', 'as many alerts as may be', `{"alerts":[${alerts.join(',')}]}`),
    json(
      'alertmanager',
      'alerts that cannot be read',
      `{"alerts":[{"labels":{}},${Array.from({ length: 9_999 }, () => '7').join(',')}],"x":"${fill('x')}"}`,
    ),
    json(
      'grafana',
      'legacy tags',
      `{"ruleId":1,"state":"alerting","ruleName":"r","tags":{${list((n) => `"t${n}":"v"`)}}}`,
    ),
    json('gatus', 'names in a broken object', `{${fill('"name":"')}`),
    json('gatus', 'names and quotes', `{"name":"a" "x"${fill('"name" ')}`),
    json('gatus', 'blanks in a broken object', `{"name":"a","url":"${fill(' ')}`),
    json(
      'uptime-kuma',
      'many tags',
      `{"heartbeat":{},"monitor":{"tags":[${list((n) => `{"name":"t${n}","value":"v"}`)}]}}`,
    ),
    ...forms(fill),
  ];
}

/** Messages that are forms. */
function forms(fill: (unit: string) => string): HostileMessage[] {
  return [
    { source: 'gatus', name: 'a long form', contentType: 'application/x-www-form-urlencoded', body: fill('a=b&') },
    {
      source: 'generic',
      name: 'a form of escapes',
      contentType: 'application/x-www-form-urlencoded',
      body: `name=${fill('%41')}`,
    },
    {
      source: 'healthchecks',
      name: 'a form of broken escapes',
      contentType: 'application/x-www-form-urlencoded',
      body: `name=${fill('%')}`,
    },
    ...['x', '-', '--------', 'x'.repeat(70)].flatMap((boundary): HostileMessage[] => {
      const contentType = `multipart/form-data; boundary="${boundary}"`;
      return [
        {
          source: 'uptime-kuma',
          name: `nothing but the boundary ${boundary}`,
          contentType,
          body: fill(`--${boundary}`),
        },
        {
          source: 'uptime-kuma',
          name: `parts without headers of ${boundary}`,
          contentType,
          body: fill(`\r\n--${boundary}`),
        },
        {
          source: 'uptime-kuma',
          name: `almost the boundary ${boundary}`,
          contentType,
          body:
            `--${boundary}\r\nContent-Disposition: form-data; name="data"` +
            `\r\n\r\n${fill(`\r\n--${boundary.slice(0, -1)}`)}`,
        },
      ];
    }),
  ];
}
