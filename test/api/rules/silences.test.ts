/** What the command line asks of silences. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';
import { audited } from '../../support/fixtures/workspaces.ts';
import { type Silence, FILE, call, add, heard } from '../../support/fixtures/rules.ts';

describe('A silence', () => {
  test('is of a rule, of events, or of both, has a reason, and an end', async (t) => {
    const program = await startProgram(t);
    await add(program, FILE);
    const made = await call<Silence>(program, 'silence.add', { rule: 'disk', for: '2h', reason: ' new disks ' });
    assert.deepEqual(
      [made.rule, made.when, made.reason, Date.parse(made.expires_at) - Date.parse(made.created_at)],
      ['disk', null, 'new disks', 7_200_000],
    );
    assert.deepEqual(await audited(program), { operation: 'silence.add', target: made.id, detail: { rule: 'disk' } });
    const both = await call<Silence>(program, 'silence.add', {
      rule: 'disk',
      when: 'event.name == "x"',
      for: '30m',
      reason: 'r',
    });
    assert.deepEqual([both.rule, both.when], ['disk', 'event.name == "x"']);
    assert.equal((await call<Silence>(program, 'silence.add', { when: 'true', for: '30m', reason: 'r' })).rule, null);
  });

  test('is refused by the field that is wrong', async (t) => {
    const program = await startProgram(t);
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ for: '1h', reason: 'r' }, /^rule, when: expected one of them, or both\.$/],
      [{ when: 'event.nmae == "x"', for: '1h', reason: 'r' }, /^when: character 6: event has no field "nmae"/],
      [{ when: '', for: '1h', reason: 'r' }, /^when: expected an expression/],
      [{ when: 'true', for: '0s', reason: 'r' }, /^for: expected a positive duration/],
      [{ when: 'true', for: '400d', reason: 'r' }, /^for: .*at most 366d/],
      [{ when: 'true', for: 'soon', reason: 'r' }, /^for: expected a positive duration/],
      [{ when: 'true', for: '1h', reason: '  ' }, /^reason: expected a reason/],
      [{ when: 'true', for: '1h' }, /^reason: this field is required/],
    ];
    for (const [raw, message] of cases)
      await assert.rejects(
        call(program, 'silence.add', raw),
        refusal('invalid_argument', message),
        JSON.stringify(raw),
      );
    await assert.rejects(
      call(program, 'silence.add', { rule: 'disk', for: '1h', reason: 'r' }),
      refusal('not_found', /^There is no rule disk\.$/),
    );
  });

  test('stops its rule at once and until it is removed; the events say which', async (t) => {
    const program = await startProgram(t);
    await add(program, FILE.replace('cooldown: 10m\n', ''));
    const { id } = await call<Silence>(program, 'silence.add', { rule: 'disk', for: '2h', reason: 'new disks' });
    const row = async (fingerprint: string) =>
      program.store.db
        .selectFrom('events')
        .selectAll()
        .where('id', '=', await heard(program, { fingerprint }))
        .executeTakeFirstOrThrow();
    const stopped = await row('a');
    assert.equal(stopped.outcome, 'suppressed');
    assert.ok(stopped.reason.includes(id) && stopped.reason.includes('new disks'), stopped.reason);
    await call(program, 'silence.remove', { id });
    const [cut] = await call<readonly Silence[]>(program, 'silence.list', { all: true });
    assert.ok(Date.parse(cut?.expires_at ?? '') <= Date.now());
    assert.equal((await row('b')).outcome, 'fired');
    await assert.rejects(call(program, 'silence.remove', { id }), refusal('conflict', /has already ended/));
    await assert.rejects(
      call(program, 'silence.remove', { id: 'sil_00000000000000000000000000' }),
      refusal('not_found'),
    );
  });
});
