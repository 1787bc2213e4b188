import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../failure.ts';
import { CHECK_KINDS, type CheckKind } from './check.ts';
import { addressOfTarget, CHECK_KIND_FACTS, readOptions, showOptions } from './kinds.ts';
import { CHECK_LIMITS, type Target, TargetReader } from './target.ts';
import { withCredentials } from './url.ts';

const read = (kind: CheckKind, spec: string): Target => new TargetReader(kind).read(`a=${spec}`);

/** The message of the refusal; it never holds what follows the name. */
function fault(kind: CheckKind, spec: string): string {
  try {
    read(kind, spec);
  } catch (error) {
    assert.ok(error instanceof Failure && error.code === 'invalid_argument');
    return error.message;
  }
  return '';
}

const shown = (kind: CheckKind, fields: object): object => showOptions(kind, readOptions(kind, fields));

/** The message of the refusal; empty without one. */
function optionsFault(kind: CheckKind, fields: object): string {
  try {
    readOptions(kind, fields);
  } catch (error) {
    return (error as Failure).message;
  }
  return '';
}

describe('A target', () => {
  test('is stored in its canonical form', () => {
    const cases: readonly (readonly [CheckKind, string, string])[] = [
      ['tcp', '10.0.0.5:443', '10.0.0.5:443'],
      ['tcp', '[2001:DB8:0:0::5]:443', '[2001:db8::5]:443'],
      ['tcp', '[::ffff:10.0.0.5]:443', '10.0.0.5:443'],
      ['tls', 'WWW.Example.org.:8443', 'www.example.org:8443'],
      ['tls', '10.0.0.5:443', '10.0.0.5:443'],
      ['tls', '[2001:db8::5]:443', '[2001:db8::5]:443'],
      ['ping', '2001:DB8::0', '2001:db8::'],
      ['dns', 'Bücher.example.', 'xn--bcher-kva.example'],
      ['dns', '_dmarc.example.org', '_dmarc.example.org'],
      ['http', 'HTTPS://Example.org', 'https://example.org/'],
      ['http', 'http://10.0.0.5:8080/a?b=c#d', 'http://10.0.0.5:8080/a?b=c'],
      ['metric', 'http://[2001:db8::5]:9090/q', 'http://[2001:db8::5]:9090/q'],
    ];
    for (const [kind, text, spec] of cases) {
      assert.deepEqual(read(kind, text), { name: 'a', spec, credentials: null });
      assert.equal(read(kind, spec).spec, spec, 'the canonical form reads as itself');
    }
  });

  test('is refused in every other form, with a message that names the form and repeats nothing', () => {
    const addresses = ['', 'x', '10.0.0.5', '10.0.0.5:', '10.0.0.5:0', '10.0.0.5:65536', '10.0.0.5:080', ':443'];
    const wrong: Readonly<Record<CheckKind, readonly string[]>> = {
      tcp: [...addresses, '010.0.0.5:1', '10.0.5:1', 'host:1', '2001:db8::5:443', '[10.0.0.5]:1', '[fe80::1%2]:1'],
      tls: [...addresses, '[host]:1', '10.0.5:1', '0x7f.1:1', 'a..b:1', '-a.b:1', 'a b:1', 'u@host:1', 'http://h:1'],
      ping: ['', 'host', '10.0.0', '10.0.0.5:1', '[2001:db8::5]', '10.0.0.0/8', 'fe80::1%eth0'],
      http: [
        '',
        'x',
        'example.org',
        'ftp://h/',
        'http:h',
        'http:\\\\h',
        'http://',
        'http://h:0/',
        'http://h:x/',
        'http://a b/',
      ],
      dns: ['', '10.0.0.5', '127.1', '2130706433', 'a.0x1', 'a..b', '.', 'a b', 'http://h', 'a'.repeat(64), '::1'],
      metric: ['', 'x', 'file:///etc/passwd', 'https://'],
    };
    for (const kind of CHECK_KINDS)
      for (const spec of wrong[kind]) {
        const expected = `targets.0: a: expected NAME=${CHECK_KIND_FACTS[kind].form}, such as `;
        assert.equal(fault(kind, spec), `${expected}${CHECK_KIND_FACTS[kind].example}.`, `${kind} ${spec}`);
      }
  });

  test('of each example of the messages is valid', () => {
    for (const kind of CHECK_KINDS) {
      const { example } = CHECK_KIND_FACTS[kind];
      assert.equal(`web1=${new TargetReader(kind).read(example).spec}`, example);
    }
  });

  test('has its credentials apart, and gets the same URL back with them', () => {
    for (const url of ['http://u:p@h/', 'https://u:p%40:q@h:8443/x?y=z', 'http://u:@h/', 'http://:p@h/']) {
      const target = read('http', url);
      assert.ok(!target.spec.includes('@'));
      assert.equal(withCredentials(target), new URL(url).href.replace('u@', 'u:@'));
    }
    assert.equal(read('http', 'http://@h/').credentials, null);
    const escaped = `http://h/${'>'.repeat(CHECK_LIMITS.targetCharacters / 2)}`;
    assert.match(
      fault('http', escaped),
      /^targets\.0: \w+: expected at most 2048 characters after escaping its URL, such as /,
    );
    for (const url of ['http://u:geheim@h:99999/', 'ftp://u:geheim@h/', `http://u:geheim@h/${'x'.repeat(2_048)}`])
      assert.ok(!fault('http', url).includes('geheim'), fault('http', url));
  });

  test('has a name of the usual form, which no other target of the check has', () => {
    const reader = new TargetReader('ping');
    reader.read('web1=10.0.0.5');
    const message = (text: string): string => {
      try {
        reader.read(text);
      } catch (error) {
        return (error as Failure).message;
      }
      return '';
    };
    assert.match(message('web1=10.0.0.6'), /^targets\.1: the name web1 is used twice; expected/);
    for (const name of ['', 'A', '-a', 'a b', 'a'.repeat(64), 'http://u:geheim@h/?x'])
      assert.match(message(`${name}=10.0.0.6`), /^targets\.1: expected a name of 1 to 63 of (?!.*geheim)/);
    assert.match(message('10.0.0.6'), /^targets\.1: expected NAME=IP, such as web1=10\.0\.0\.5\.$/);
    assert.match(message(`a=${'1'.repeat(CHECK_LIMITS.targetCharacters)}`), /^targets\.1: expected at most 2048/);
    assert.equal(reader.read('web2=10.0.0.6').spec, '10.0.0.6');
  });

  test('has an address for a netgroup only as a literal of tcp and ping', () => {
    assert.equal(addressOfTarget('tcp', read('tcp', '10.0.0.5:443').spec), '10.0.0.5');
    assert.equal(addressOfTarget('tcp', read('tcp', '[2001:db8::5]:443').spec), '2001:db8::5');
    assert.equal(addressOfTarget('ping', '2001:db8::5'), '2001:db8::5');
    for (const kind of ['tls', 'http', 'dns', 'metric'] as const) assert.equal(addressOfTarget(kind, '10.0.0.5'), null);
  });
});

describe('The own fields of a check', () => {
  test('have their defaults, and are shown as they were given', () => {
    assert.deepEqual(shown('tcp', { min_days: undefined }), {});
    assert.deepEqual(shown('tls', {}), { min_days: 14 });
    assert.deepEqual(shown('http', {}), { expect: 0, method: 'GET', expect_body: null });
    assert.deepEqual(shown('dns', { expect_addr: '10.0.0.5' }), { expect_addr: '10.0.0.5' });
    const metric = { op: '<', value: 0.5, pointer: '/a' };
    assert.deepEqual(shown('metric', metric), metric);
  });

  test('of another kind are refused by name, and so is a missing one', () => {
    const fields = {
      min_days: 1,
      expect: 200,
      method: 'GET',
      expect_body: 'x',
      expect_addr: '10.0.0.5',
      op: '<',
      value: 1,
      pointer: '',
    };
    for (const kind of CHECK_KINDS)
      for (const [name, value] of Object.entries(fields)) {
        const isOwn = (CHECK_KIND_FACTS[kind].takes as readonly string[]).includes(name);
        const foreign = new RegExp(`^${name}: a check of kind ${kind} does not have this field; it is of the kind `);
        if (!isOwn) assert.match(optionsFault(kind, { [name]: value }), foreign);
      }
    assert.match(optionsFault('tcp', { min_days: 1 }), /it is of the kind tls\.$/);
    for (const part of [{}, { op: '<' }, { value: 1 }])
      assert.match(optionsFault('metric', part), /^op, value: required for a check of kind metric\.$/);
    assert.match(
      optionsFault('http', { method: 'HEAD', expect_body: 'x' }),
      /^expect_body: an answer to HEAD has no body/,
    );
  });
});
