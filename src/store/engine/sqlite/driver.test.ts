/** Rows as queries get them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { SqliteConnection } from './driver.ts';

test('rows are plain objects, also after another process has added a column', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-driver-'));
  const file = join(dir, 'rows.db');
  const connection = new SqliteConnection(file, { readOnly: false });
  const other = new DatabaseSync(file);
  t.after(() => {
    connection.close();
    other.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const all = (): unknown => connection.run('select * from thing order by id', []).rows;
  connection.run('create table thing (id integer primary key, name text, data blob)', []);
  assert.deepEqual(all(), []);
  connection.run('insert into thing values (1, ?, ?), (2, null, null)', ['one', new Uint8Array([7])]);
  const rows = [
    { id: 1, name: 'one', data: new Uint8Array([7]) },
    { id: 2, name: null, data: null },
  ];
  assert.deepEqual(all(), rows);
  other.exec("alter table thing add column late text default 'x'");
  assert.deepEqual(
    all(),
    rows.map((row) => ({ ...row, late: 'x' })),
  );
  assert.deepEqual(connection.run('insert into thing (id) values (3) returning id, late', []).rows, [
    { id: 3, late: 'x' },
  ]);
});

test('T80: an integer that a number does not hold is the nearest one, and the other rows are read', (t) => {
  const connection = new SqliteConnection(':memory:', { readOnly: false });
  t.after(() => connection.close());
  connection.run('create table thing (id integer primary key, at integer) strict', []);
  connection.run('insert into thing values (1, 5), (2, ?)', [9_223_372_036_854_775_807n]);
  const all = (): unknown => connection.run('select id, at from thing order by id', []).rows;
  const near = [
    { id: 1, at: 5 },
    { id: 2, at: 2 ** 63 },
  ];
  assert.deepEqual(all(), near);
  assert.deepEqual(all(), near, 'also when it is asked again');
  const touch = (): unknown => connection.run('update thing set id = id where id > 0 returning id, at', []).rows;
  assert.throws(touch, { code: 'ERR_OUT_OF_RANGE' }, 'a write, whose transaction is undone');
  assert.deepEqual(touch(), near, 'and then runs again');
  connection.run('update thing set at = 6 where id = 2', []);
  for (const _ of [1, 2]) assert.deepEqual(all(), [near[0], { id: 2, at: 6 }]);
});
