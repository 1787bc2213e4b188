import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { completeDatabaseUrl, readDatabaseUrl, urlOfHost } from './database-url.ts';

const placesOf = (text: string): string[] => readDatabaseUrl(text).hosts.map(({ host, port }) => `${host} ${port}`);

describe('A URL of a database', () => {
  test('names hosts in its authority or its query, in the order of their turns', () => {
    const table: readonly (readonly [string, ...string[]])[] = [
      ['postgres://db.example/x', 'db.example 5432'],
      ['postgresql://me:pw@a:1,b,[2001:db8::1]:3/x', 'a 1', 'b 5432', '2001:db8::1 3'],
      ['postgres:///x?host=/run/postgresql', '/run/postgresql 5432'],
      ['postgres://%2Frun%2Fpostgresql:5433/x', '/run/postgresql 5433'],
      ['postgres://other/x?host=a,::1&port=1,2', 'a 1', '::1 2'],
      ['postgres:///x?host=a,b&port=7', 'a 7', 'b 7'],
      ['postgres://', 'localhost 5432'],
    ];
    for (const [text, ...expected] of table) assert.deepEqual(placesOf(text), expected, text);
  });

  test('is read without a loss: signs of a password are taken as they are, or as their codes', () => {
    const { user, password, database } = readDatabaseUrl('postgres://m%40e:p%25w%2F+100%:x@h/da%20ta');
    assert.deepEqual([user, password, database], ['m@e', 'p%w/+100%:x', 'da ta']);
    assert.equal(readDatabaseUrl('postgres://me:no@h/x?password=pw').password, 'pw');
  });

  test('without sslmode prefers encryption; with the roots of the system it checks the name too', () => {
    assert.equal(readDatabaseUrl('postgres://h/x').sslMode, 'prefer');
    assert.equal(readDatabaseUrl('postgres://h/x?sslrootcert=system').sslMode, 'verify-full');
  });

  test('gets from the variables of libpq what it leaves out, and nothing else', () => {
    const env = { PGHOST: '/run/p', PGPORT: '7', PGSSLMODE: 'verify-full', PGSSLROOTCERT: '/ca.pem', PGUSER: 'other' };
    const bare = readDatabaseUrl(completeDatabaseUrl('postgres:///x', env));
    assert.deepEqual(
      [bare.hosts, bare.sslMode, bare.rootsFile, bare.user],
      [[{ host: '/run/p', port: 7 }], 'verify-full', '/ca.pem', undefined],
    );
    const full = readDatabaseUrl(completeDatabaseUrl('postgres://me:p%2Fw@h:1/x?sslmode=require', env));
    assert.deepEqual([full.hosts, full.sslMode, full.password], [[{ host: 'h', port: 1 }], 'require', 'p/w']);
    assert.throws(() => completeDatabaseUrl('postgres:///x', { PGSSLMODE: 'none' }), { code: 'invalid_argument' });
  });

  test('is given to programs for one host and without its password', () => {
    const text = urlOfHost('postgres://me:pw@a,b:2/x?sslmode=verify-full&sslrootcert=/ca.pem', { host: '/d', port: 4 });
    assert.equal(text.includes('pw'), false);
    const { hosts, sslMode, rootsFile, user, database } = readDatabaseUrl(text);
    assert.deepEqual(
      [hosts, sslMode, rootsFile, user, database],
      [[{ host: '/d', port: 4 }], 'verify-full', '/ca.pem', 'me', 'x'],
    );
  });

  test('of verify-full alone gives programs the roots of the system', () => {
    const text = urlOfHost('postgres://h/x?sslmode=verify-full', { host: 'h', port: 1 });
    assert.match(text, /[?&]sslrootcert=system(&|$)/);
  });

  test('is refused with the reason and without a value where it cannot mean what it says', () => {
    const table: readonly (readonly [string, RegExp])[] = [
      ['mysql://me:pw@h/x', /expected a postgres:\/\/ URL/],
      ['postgres://me:p#pw@h/x', /write # as %23/],
      ['postgres://me:p/pw@h/x', /write # as %23/],
      ['postgres://me:1?pw&pw@h/x', /write # as %23/],
      ['postgres://h:pw/x', /expected HOST/],
      ['postgres://h:70000/x', /port: expected 1 to 65535/],
      ['postgres://h:0/x', /port: expected 1 to 65535/],
      ['postgres:///x?host=a,b&port=1,00', /port: expected 1 to 65535/],
      ['postgres://a,b/x?port=1,2,3', /one port, or one for each host/],
      ['postgres://me:%ff@h/x', /not UTF-8/],
      ['postgres://h/x?sslmode=pw', /sslmode: expected one of disable, allow, prefer/],
      ['postgres://h/x?sslmode=verify-ca', /verify-ca needs sslrootcert/],
      ['postgres://h/x?sslrootcert=system&sslmode=require', /needs sslmode=verify-full/],
      ['postgres://h/x?sslrootcert=ca.pem', /sslrootcert: expected an absolute path/],
      ['postgres://h/x?sslcert=/c.pem', /given together/],
      ['postgres://h/x?target_session_attrs=standby', /expected one of any, read-write, primary/],
      ['postgres://h/x?channel_binding=require', /"channel_binding" is no parameter that is read/],
      ['postgres://h/x?connect_timeout=pw', /expected whole seconds/],
    ];
    for (const [text, why] of table)
      assert.throws(
        () => readDatabaseUrl(text),
        (error: Error & { code?: string }) =>
          error.code === 'invalid_argument' && why.test(error.message) && !error.message.includes('pw'),
        text,
      );
  });
});
