import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApi, NOWHERE, strippedTarget } from './base-path.ts';

test('The base path is stripped once, byte for byte; a target outside it has no route', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['', '/api/v1/jobs?limit=1', '/api/v1/jobs?limit=1'],
    ['/ops', '/ops/api/v1/jobs', '/api/v1/jobs'],
    ['/ops', '/ops', '/'],
    ['/ops', '/ops/', '/'],
    ['/ops', '/ops?x=1', '/?x=1'],
    ['/ops', '/ops/ops/', '/ops/'],
    ['/ops', '/opsx/api', NOWHERE],
    ['/ops', '/Ops/api', NOWHERE],
    ['/ops', '/%6fps/api', NOWHERE],
    ['/ops', '//ops/api', NOWHERE],
    ['/ops', '/api/v1/jobs', NOWHERE],
    ['/ops', '/', NOWHERE],
    ['', '*', NOWHERE],
    ['', 'jobs', NOWHERE],
    ['', '/a#b', NOWHERE],
    ['', '/a\\b', NOWHERE],
  ];
  for (const [basePath, target, stripped] of cases)
    assert.equal(strippedTarget(target, basePath), stripped, `${basePath} ${target}`);
});

test('The absolute form of a target has the same meaning; its host is ignored', () => {
  assert.equal(strippedTarget('http://evil.example/ops/api/v1/jobs', '/ops'), '/api/v1/jobs');
  assert.equal(strippedTarget('HTTPS://a:b@evil.example:1?x', ''), '/?x');
  assert.equal(strippedTarget('http://evil.example', ''), '/');
  assert.equal(strippedTarget('http://evil.example/ops', ''), '/ops');
  assert.equal(strippedTarget('ftp://evil.example/ops', '/ops'), NOWHERE);
});

test('The API is every path below its version, not a path with the same beginning', () => {
  for (const target of ['/api/v1', '/api/v1/', '/api/v1/x', '/api/v1?x']) assert.equal(isApi(target), true, target);
  for (const target of ['/api/v10', '/api/v2/jobs', '/api', '/API/v1/jobs', '/', '/x/api/v1/jobs'])
    assert.equal(isApi(target), false, target);
});
