/** A silence for a rule is seen at the rule, and ends with it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Projected } from '../../../src/views/views.ts';
import { receive } from '../../../src/reaction/receive.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { alert, WEBHOOK } from '../../support/fixtures/reaction.ts';
import { send } from '../../support/scenario.ts';
import { audited, callLocally } from '../../support/fixtures/workspaces.ts';

type Rule = Projected<'rule.get'>;
type Silence = Projected<'silence.get'>;

const add = (program: Program, name: string): Promise<Rule> =>
  callLocally<Rule>(program, 'rule.add', {
    text: `name: ${name}\nwhen: event.source == "generic"\naction: {command: ["true"], inventory: localhost}\n`,
  });
const silence = (program: Program, raw: object): Promise<Silence> =>
  callLocally<Silence>(program, 'silence.add', { for: '1h', reason: 'r', ...raw });
const got = (program: Program, name: string): Promise<Rule> => callLocally<Rule>(program, 'rule.get', { name });
const toldBy = ({ silenced_until: until, silence_id: id }: Partial<Rule>): unknown => ({ until, id });

describe('A rule', () => {
  test('shows the silence that stops it for all events; of several, the one that lasts longest', async (t) => {
    const program = await startProgram(t);
    for (const name of ['a', 'b']) await add(program, name);
    const nothing = { until: undefined, id: undefined };
    await silence(program, { when: 'true' });
    await silence(program, { rule: 'a', when: 'event.name == "x"' });
    assert.deepEqual(toldBy(await got(program, 'a')), nothing);
    const long = await silence(program, { rule: 'a', for: '2h' });
    await silence(program, { rule: 'a', for: '1h' });
    const answer = { until: long.expires_at, id: long.id };
    const listed = async (): Promise<unknown[]> => (await callLocally<Rule[]>(program, 'rule.list', {})).map(toldBy);
    assert.deepEqual([toldBy(await got(program, 'a')), toldBy(await got(program, 'b'))], [answer, nothing]);
    assert.deepEqual(await listed(), [answer, nothing]);
    for (const verb of ['disable', 'enable'])
      assert.deepEqual(toldBy(await callLocally<Rule>(program, `rule.${verb}`, { name: 'a' })), answer, verb);
  });

  test('hides a silence whose time is over, also before the store has ended it', async (t) => {
    let aheadMs = 0;
    const program = await startProgram(t, { clock: { ...systemClock, now: () => systemClock.now() + aheadMs } });
    await add(program, 'a');
    const { id } = await silence(program, { rule: 'a' });
    const listed = async (): Promise<unknown[]> => {
      const { json } = await send(program, 'readonly', { method: 'GET', path: '/api/v1/rules' });
      return (json as { data: Rule[] }).data.map(({ silence_id: answer }) => answer);
    };
    assert.deepEqual(await listed(), [id]);
    aheadMs = 3_600_000;
    assert.deepEqual(await listed(), [undefined]);
    assert.equal((await got(program, 'a')).silence_id, undefined);
  });

  test('ends its silences and lists them in the answer, so another rule of its name acts', async (t) => {
    const program = await startProgram(t);
    for (const name of ['a', 'b']) await add(program, name);
    const ends = [
      await silence(program, { rule: 'a' }),
      await silence(program, { rule: 'a', when: 'event.name != "x"' }),
    ].map(({ id }) => id);
    const stay = [await silence(program, { rule: 'b' }), await silence(program, { when: 'event.name == "x"' })].map(
      ({ id }) => id,
    );
    const removed = await callLocally<Rule>(program, 'rule.remove', { name: 'a' });
    assert.deepEqual([removed.ended_silences, removed.silenced_until], [ends, undefined]);
    assert.deepEqual(await audited(program), {
      operation: 'rule.remove',
      target: 'a',
      detail: { ended_silences: ends },
    });
    const open = await callLocally<Silence[]>(program, 'silence.list', {});
    assert.deepEqual(open.map(({ id }) => id).toSorted(), stay);
    await add(program, 'a');
    const [outcome] = await receive(program.services.reaction, [alert()], WEBHOOK);
    assert.deepEqual([outcome?.event.outcome, outcome?.event.rule], ['fired', 'a']);
    await callLocally(program, 'rule.remove', { name: 'a' });
    assert.deepEqual(await audited(program), { operation: 'rule.remove', target: 'a', detail: {} });
  });

  test('shows the silence when it is added, if one was left for its name', async (t) => {
    const program = await startProgram(t);
    await add(program, 'a');
    const { id } = await silence(program, { rule: 'a' });
    // As earlier versions removed a rule.
    await program.store.write((tx) => tx.db.deleteFrom('rules').execute());
    assert.equal((await add(program, 'a')).silence_id, id);
  });
});
