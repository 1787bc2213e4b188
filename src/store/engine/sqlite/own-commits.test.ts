import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OwnCommits, tableWritten } from './own-commits.ts';

describe('The table that a statement writes to', () => {
  for (const [sql, table] of [
    ['insert into "jobs" ("id") values (?)', 'jobs'],
    ['INSERT OR IGNORE INTO jobs(id) values (?)', 'jobs'],
    ['update "rules" set "fired_at" = ?', 'rules'],
    ['\n  delete from events where id in (?)', 'events'],
    ['select * from "jobs"', null],
    ['begin immediate', null],
    ['release member', null],
    ['insert into "events" ("id") select "id" from "jobs" where true on conflict do update set "id" = 1', 'events'],
    ['with "r" as materialized (select * from "rules") update "jobs" set "state" = ? from "r"', 'jobs'],
    ['with old as (select 1) delete from jobs where id in old', 'jobs'],
    ["update or ignore rules set name = 'it''s insert into events'", 'rules'],
    ['replace into jobs values (?)', 'jobs'],
    ['with old as (select 1) select * from old', null],
    ['insert into main.rules values (1)', '*'],
    ['delete from "main"."rules"', '*'],
    ['create table more (id text)', '*'],
  ] as const)
    test(`${JSON.stringify(sql)} writes to ${table ?? 'no table'}`, () => assert.equal(tableWritten(sql), table));
});

describe('The commits of this process', () => {
  test('are counted by the tables that they wrote to', () => {
    const commits = new OwnCommits();
    commits.ended(['jobs', 'ledger']);
    commits.ended(['jobs']);
    commits.ended([]);
    assert.deepEqual(
      [commits.count(), commits.count(['jobs']), commits.count(['ledger', 'rules']), commits.count(['rules'])],
      [3, 2, 1, 0],
    );
  });

  test('count for every table where what they wrote to is not known', () => {
    const commits = new OwnCommits();
    commits.ended(['*']);
    assert.equal(commits.count(['rules']), 1);
  });
});
