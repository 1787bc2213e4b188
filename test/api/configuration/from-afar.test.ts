/** A configuration file over the API: what is applied at once, and what another person decides. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configKind } from '../../../src/domain/config-order/kind.ts';
import { loadOperation, loadSections } from '../../../src/operations/areas.ts';
import { prepareOrdered } from '../../../src/operations/configuration/ordered.ts';
import { readConfigOrder } from '../../../src/store/configuration/orders.ts';
import { apply, changesOf, diff } from '../../support/configuration/config-files.ts';
import { ask, CHECKS, decide, names, order, rules, send, start } from '../../support/configuration/from-afar.ts';
import { refusal } from '../../support/refusal.ts';
import { until } from '../../support/store/work-scene.ts';

for (const postgres of [false, true])
  describe(`A configuration file from afar${postgres ? ' on PostgreSQL' : ''}`, () => {
    test('checks and netgroups are applied at once, in the name of who sent them', async (t) => {
      const { program } = await start(t, { postgres });
      const answer = await ask(program, CHECKS);
      assert.deepEqual([answer.status, answer.kind], [200, 'config.applied'], answer.text);
      assert.deepEqual(changesOf(await diff(program, CHECKS)), []);
      const rows = await program.store.db.selectFrom('ledger').select(['operation', 'owner', 'via']).execute();
      assert.deepEqual(
        rows.filter(({ operation }) => operation === 'check.add'),
        [{ operation: 'check.add', owner: 'operator', via: 'api' }],
      );
    });

    test('anything else is one job: another person sees the changes, says yes, and all of it is applied', async (t) => {
      const { program, run } = await start(t, { postgres });
      await apply(program, rules('old'));
      const asked = await ask(program, `${rules('new', 2)}${CHECKS.slice('set: team\n'.length)}`, { because: 'OPS-7' });
      assert.deepEqual([asked.status, asked.kind], [202, 'approval.pending'], asked.text);
      assert.deepEqual(await names(program), ['rule-0']);
      const seen = await order(program, asked);
      assert.deepEqual([seen.kind, seen.because], ['config', 'OPS-7']);
      const shown = (seen.changes ?? []).map(({ change, kind, name }) => `${change} ${kind} ${name}`);
      assert.deepEqual(shown.toSorted(), ['add check web', 'add netgroup dc', 'add rule rule-1', 'change rule rule-0']);
      assert.deepEqual(seen.changes?.find(({ name }) => name === 'rule-0')?.fields, [
        { field: 'when', from: 'event.name == "old"', to: 'event.name == "new"' },
      ]);
      const added = seen.changes?.find(({ name }) => name === 'rule-1')?.fields ?? [];
      assert.match(added.find(({ field }) => field === 'action')?.to ?? '', /df/);
      // Who asked does not decide, whatever their token.
      const own = await program.token('approve', { owner: 'operator' });
      const { data } = asked;
      const refused = await send(program, `/approvals/${data.approval_id}/decision`, { decision: 'approve' }, own);
      assert.equal(refused.status, 403);
      assert.equal((await decide(program, asked)).status, 200);
      assert.equal(await run(asked), 'succeeded');
      assert.deepEqual(await names(program), ['rule-0', 'rule-1']);
      const rule = program.store.db.selectFrom('rules').select('owners').where('name', '=', 'rule-1');
      assert.deepEqual(JSON.parse((await rule.executeTakeFirstOrThrow()).owners), ['operator']);
    });

    test('a repeat with the same key is the same request, also of what is applied at once', async (t) => {
      const { program } = await start(t, { postgres });
      for (const [text, status] of [
        [rules('new'), 202],
        [CHECKS, 200],
      ] as const) {
        const answers = [];
        for (let sent = 0; sent < 2; sent += 1) answers.push(await ask(program, text, {}, undefined, `key-${status}`));
        assert.deepEqual([answers[0]?.status, answers[1]?.text], [status, answers[0]?.text]);
      }
      assert.equal((await program.store.db.selectFrom('jobs').select('id').execute()).length, 1);
    });

    test('a no changes nothing', async (t) => {
      const { program, on } = await start(t, { postgres });
      const asked = await ask(program, rules('new'));
      assert.equal((await decide(program, asked, 'reject')).status, 200);
      await on.work.claimOnce();
      assert.deepEqual(await names(program), []);
    });

    test('of two files about one object the second is refused at the yes, as the object has moved', async (t) => {
      const { program, run } = await start(t, { postgres });
      const [one, two] = [await ask(program, rules('one')), await ask(program, rules('two'))];
      assert.equal((await decide(program, one)).status, 200);
      assert.equal(await run(one), 'succeeded');
      const late = await decide(program, two);
      assert.deepEqual([late.status, /"code":"conflict"/.test(late.text)], [409, true], late.text);
    });

    test('two that were approved before either ran: the second fails and writes nothing', async (t) => {
      const { program, on, run } = await start(t, { postgres });
      const [one, two] = [await ask(program, rules('one')), await ask(program, rules('two', 2))];
      for (const asked of [one, two]) assert.equal((await decide(program, asked)).status, 200);
      assert.equal(await run(one), 'succeeded');
      await on.work.claimOnce();
      await until(() => on.work.running === 0);
      const { state, reason } = await on.row(two.data.job_id);
      assert.equal(state, 'failed');
      assert.match(reason ?? '', /moved since|not as|after/);
      assert.deepEqual(await names(program), ['rule-0']);
    });

    test('a change between the comparison of the run and its transaction fails it as a whole', async (t) => {
      const { program, on } = await start(t, { postgres });
      const asked = await ask(program, rules('new', 2));
      await decide(program, asked);
      const place = { store: program.store, services: program.services };
      const row = await on.row(asked.data.job_id);
      const spec = configKind.readSpec(row.spec);
      const { file } = await readConfigOrder(program.store.db, row.id, spec);
      const write = await prepareOrdered(place, {
        jobId: row.id,
        file,
        spec,
        sections: await loadSections(),
        load: loadOperation,
      });
      await apply(program, rules('other'));
      await assert.rejects(program.store.write(write), refusal('conflict', /was changed while/));
      assert.deepEqual(await names(program), ['rule-0']);
    });

    test('an author who loses the token has still asked: who decides says yes or no', async (t) => {
      const { program, run } = await start(t, { postgres });
      const token = await program.token('operator', { name: 'ci', owner: 'ci', agent: { only: null } });
      const asked = await ask(program, rules('new'), {}, token);
      assert.equal(asked.status, 202, asked.text);
      assert.equal(
        (await send(program, `/approvals/${asked.data.approval_id}/decision`, { decision: 'approve' }, token)).status,
        403,
      );
      await program.revoke(token);
      assert.equal((await decide(program, asked)).status, 200);
      assert.equal(await run(asked), 'succeeded');
      const rows = await program.store.db.selectFrom('ledger').select(['operation', 'owner']).execute();
      assert.ok(rows.some(({ operation, owner }) => operation === 'rule.add' && owner === 'ci'));
    });
  });
