import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { listenHttp } from '../../../test/support/network/listener.ts';
import { loopbackProbes, probeOnce } from '../../../test/support/network/probing.ts';
import { METRIC_OPS } from '../../domain/checks/check.ts';
import { holds, readMetric } from './metric-value.ts';

const vector = (...values: readonly string[]): string =>
  JSON.stringify({
    status: 'success',
    data: { resultType: 'vector', result: values.map((value) => ({ metric: {}, value: [1_700_000_000.5, value] })) },
  });

test('A plain number, an answer of Prometheus and a number at a pointer are read', () => {
  const rows: readonly (readonly [string, string | null, number | null])[] = [
    ['5', null, 5],
    [' -1.5e3\n', null, -1_500],
    ['+.5', null, 0.5],
    ['+Inf', null, Number.POSITIVE_INFINITY],
    ['-inf', null, Number.NEGATIVE_INFINITY],
    ['NaN', null, null],
    ['', null, null],
    ['5 6', null, null],
    ['0x10', null, null],
    ['"5"', null, null],
    ['{"a":5}', null, null],
    [vector('2.5'), null, 2.5],
    [vector('NaN'), null, null],
    [vector(), null, null],
    [vector('1', '2'), null, null],
    ['{"status":"success","data":{"resultType":"scalar","result":[1,"7"]}}', null, 7],
    ['{"status":"error","data":{"resultType":"scalar","result":[1,"7"]}}', null, null],
    ['{"status":"success","data":{"resultType":"matrix","result":[]}}', null, null],
    ['{"a":{"b":[1,2.5]}}', '/a/b/1', 2.5],
    ['{"a":{"b":[1,2.5]}}', '/a/b/01', null],
    ['{"a":{"b":[1,2.5]}}', '/a/b/-', null],
    ['{"a":{"b":[1,2.5]}}', '/a/b', null],
    ['{"a/b":{"m~n":1,"":2}}', '/a~1b/m~0n', 1],
    ['{"a/b":{"m~n":1,"":2}}', '/a~1b/', 2],
    ['{"~1":3}', '/~01', 3],
    ['7', '', 7],
    ['7', '/a', null],
    ['{"a":"9.5"}', '/a', 9.5],
    ['{"a":true}', '/a', null],
    ['{"a":1}', '/constructor/length', null],
    ['{"__proto__":{"a":4}}', '/__proto__/a', 4],
    ['[1,2]', '/length', null],
    ['{"a":1', '/a', null],
  ];
  for (const [text, pointer, value] of rows)
    assert.deepEqual([text, pointer, readMetric(text, pointer)], [text, pointer, value]);
});

test('Each operator compares the number that was read with the value of the check', () => {
  const found = METRIC_OPS.map((op) => [op, holds(1, op, 2), holds(2, op, 2), holds(3, op, 2)]);
  assert.deepEqual(found, [
    ['<', true, false, false],
    ['<=', true, true, false],
    ['>', false, false, true],
    ['>=', false, true, true],
    ['==', false, true, false],
    ['!=', true, false, true],
  ]);
});

test('A metric target is up when its number compares, and each failure has its word', async (t) => {
  const bodies: Readonly<Record<string, string | Buffer>> = {
    '/plain': '42\n',
    '/json': '{"queue":{"length":7}}',
    '/text': 'no number',
    '/bytes': Buffer.from([0xff, 0xfe]),
    '/large': ' '.repeat(65_536) + '1',
  };
  const { port } = await listenHttp(t, (request, response) => {
    const body = bodies[request.url ?? ''];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  const detail = async (path: string, value: number, pointer: string | null = null): Promise<string> =>
    (await probeOnce(loopbackProbes(), 'metric', `http://127.0.0.1:${port}${path}`, { op: '<', value, pointer }))
      .detail;
  assert.equal(await detail('/plain', 43), 'ok');
  assert.equal(await detail('/plain', 42), 'value_unexpected');
  assert.equal(await detail('/json', 10, '/queue/length'), 'ok');
  assert.equal(await detail('/json', 10), 'value_unreadable');
  assert.equal(await detail('/text', 10), 'value_unreadable');
  assert.equal(await detail('/bytes', 10), 'value_unreadable');
  assert.equal(await detail('/large', 10), 'too_large');
  assert.equal(await detail('/other', 10), 'status_unexpected');
  const packed = await listenHttp(t, (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('42')),
  );
  const unpacked = await probeOnce(loopbackProbes(), 'metric', `http://127.0.0.1:${packed.port}/`, { value: 41 });
  assert.equal(unpacked.detail, 'ok');
});
