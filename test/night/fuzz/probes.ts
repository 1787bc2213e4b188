/** What targets of checks answer, and the configuration of the resolver. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { candidates, readSearchList } from '../../../src/dial/search-list.ts';
import { CHECK_KINDS, METRIC_OPS } from '../../../src/domain/checks/check.ts';
import { CHECK_LIMITS, type Target, TargetReader } from '../../../src/domain/checks/target.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { holds, readMetric } from '../../../src/probes/kinds/metric-value.ts';
import { type FuzzTarget, fuzzTarget } from './target.ts';
import { pieces, texts } from './texts.ts';

const ANSWERS = [
  '42',
  '-1.5e3',
  '+Inf',
  '1e',
  '.',
  '{"status":"success",',
  '"data":{"resultType":"vector",',
  '"data":{"resultType":"scalar",',
  '"result":[{"metric":{},"value":[1.5,"2"]}]}}',
  '"result":[1,"7"]}}',
  '"result":[]}}',
  '[[[[[[[[',
  '{"a":{"a":{"a":[0,1,{"a":5}]}}}',
];
const POINTERS = ['/a', '/0', '/-', '/~0', '/~1', '~', '/', '/data/result/0/value/1', '/__proto__', '/length'];
const CONFIGURATION = [
  'search ',
  'domain ',
  'options ',
  'ndots:',
  'lan.test ',
  'nameserver 10.0.0.53\n',
  '\n',
  '# ',
  ';',
];

const TARGETS = [
  'web1',
  '=',
  '10.0.0.5',
  '[2001:db8::5]',
  '::ffff:10.0.0.5',
  'https://',
  'http://',
  'user:geheim@',
  'www.example.org',
  ':443',
  ':0',
  ':65536',
  '/path?a=b',
  '#part',
  '%00',
  '\\\\',
  'xn--',
  'MX',
  ' ',
  '\u202e',
];

export const PROBE_TARGETS: readonly FuzzTarget[] = [
  fuzzTarget('check-target', fc.tuple(fc.constantFrom(...CHECK_KINDS), texts(TARGETS)), ([kind, text]) => {
    let read: Target;
    try {
      read = new TargetReader(kind).read(`web1=${text}`);
    } catch (error) {
      assert.ok(error instanceof Failure && error.code === 'invalid_argument');
      assert.match(error.message, /^targets\.0: /);
      assert.doesNotMatch(error.message, /geheim/);
      return;
    }
    // What is stored is the form that reads as itself, and holds no credential.
    assert.deepEqual(new TargetReader(kind).read(`web1=${read.spec}`), { ...read, credentials: null });
    const url = URL.parse(read.spec);
    assert.equal(`${url?.username ?? ''}${url?.password ?? ''}`, '');
    assert.ok(read.spec.length <= 3 * CHECK_LIMITS.targetCharacters);
  }),
  fuzzTarget('metric-answer', fc.tuple(texts(ANSWERS), fc.option(pieces(POINTERS))), ([text, pointer]) => {
    const read = readMetric(text, pointer);
    if (read === null) return;
    assert.ok(!Number.isNaN(read));
    // Each pair of operators that exclude each other: one of them holds.
    const [less, lessOrEqual, greater, greaterOrEqual, equal, unequal] = METRIC_OPS.map((op) => holds(read, op, 5));
    assert.deepEqual([less, lessOrEqual, equal], [!greaterOrEqual, !greater, !unequal]);
    assert.equal(pointer === null ? readMetric(`\n${text} `, null) : read, read);
  }),
  fuzzTarget('search-list', fc.tuple(texts(CONFIGURATION), pieces(['web', '.', 'lan', 'test.'])), ([text, name]) => {
    const list = readSearchList(text);
    assert.ok(list.domains.length <= 6 && list.dots <= 15);
    const names = candidates(name, list);
    assert.ok(names.length > 0 && names.length <= 7);
    assert.ok(names.every((each) => each.startsWith(name.replace(/\.$/, ''))));
  }),
];
