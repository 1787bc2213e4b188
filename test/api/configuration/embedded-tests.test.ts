/** Tests inside a rule of a configuration file. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apply, RULE } from '../../support/configuration/config-files.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';

const EVENT = 'event: {source: generic, labels: {instance: db1, mountpoint: /srv}}';
const withTests = (...tests: readonly string[]): string =>
  `rules:${RULE}\n    tests:\n${tests.map((each) => `      - {${each}}\n`).join('')}`;

const refusedWith = (program: Program, tests: string, message: RegExp): Promise<void> =>
  assert.rejects(apply(program, withTests(tests)), refusal('invalid_argument', message));

describe('The tests of a rule', () => {
  test('pass before it is added', async (t) => {
    const program = await startProgram(t);
    const { changes } = await apply(
      program,
      withTests(
        `name: fires, ${EVENT}, expect: fires, action: {command: [df, -h, /srv], timeout: 5m}`,
        'event: {source: generic, labels: {instance: db2}}, expect: ignored',
        'event: {source: generic, labels: {instance: db1, mountpoint: "../etc"}}, expect: error',
        'event: {source: alertmanager, name: x, status: firing, severity: critical, fingerprint: f, netgroup: dc, ' +
          'annotations: {a: b}, received_at: 2026-01-02T03:04:05Z}, expect: ignored',
      ),
    );
    assert.equal(changes.length, 1);
  });

  test('point 39: refuse the file with their line if one fails, and nothing is written', async (t) => {
    const program = await startProgram(t);
    const at = String.raw`\(line 13, column \d+\)`;
    for (const [tests, message] of [
      [
        `${EVENT}, expect: ignored`,
        `^rules\\.disk-full\\.tests\\[0\\]\\.expect ${at}: the test failed: expected ignored; got fires`,
      ],
      [
        'event: {source: generic}, expect: fires',
        `^rules\\.disk-full\\.tests\\[0\\]\\.expect ${at}: the test failed: expected fires; got ignored`,
      ],
      [
        'event: {source: generic, labels: {instance: db1, mountpoint: "a b"}}, expect: fires',
        `${at}: the test failed: expected fires; got error \\(command: `,
      ],
      [
        `${EVENT}, expect: fires, action: {command: [df, -h, /]}`,
        `tests\\[0\\]\\.action\\.command ${at}: the test failed: expected \\["df","-h","/"\\]; got \\["df",`,
      ],
      [
        `${EVENT}, expect: fires, action: {limit: a}`,
        `action\\.limit ${at}: the test failed: expected "a"; got no such field`,
      ],
    ] as const)
      await refusedWith(program, tests, new RegExp(message));
    assert.deepEqual(await program.store.db.selectFrom('rules').selectAll().execute(), []);
  });

  test('are refused where they are no tests', async (t) => {
    const program = await startProgram(t);
    for (const [tests, message] of [
      ['event: {}, expect: maybe', /expect \(line 13, column \d+\): expected one of fires, ignored, error/],
      ['event: {soruce: x}, expect: fires', /event\."soruce" .*perhaps "source"/],
      ['event: {source: nosuch}, expect: fires', /event\.source .*expected one of generic/],
      ['event: [], expect: fires', /event .*expected fields of an event/],
      ['event: {labels: x}, expect: fires', /event\.labels .*expected names/],
      ['event: {received_at: soon}, expect: fires', /event\.received_at .*expected a time/],
      ['event: {}, expect: ignored, action: {limit: a}', /action .*of a test that expects fires/],
      ['expect: fires', /tests\[0\]\.event \(line 13, column 9\): this field is required/],
    ] as const)
      await refusedWith(program, tests, message);
    await assert.rejects(
      apply(program, `rules:${RULE}\n    tests: 5\n`),
      refusal('invalid_argument', /tests \(line 12, column 12\): expected a list/),
    );
  });
});
