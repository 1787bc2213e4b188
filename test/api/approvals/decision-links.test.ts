/** Decision links over the ingress listener: who looks changes nothing, who posts decides once. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { decide } from '../../../src/operations/approvals/decide.ts';
import { NOT_LOOKED } from '../../../src/operations/approvals/pinned-files.ts';
import { proofOf } from '../../../src/operations/approvals/decision-page.ts';
import { ask, assertPending, ledger, openDecisionFixture, VALUE, WORKSPACE } from '../../support/fixtures/decisions.ts';

function tokenOf(url: string): string {
  return new URL(url).searchParams.get('token') ?? assert.fail('the URL has no token');
}

for (const postgres of [false, true]) {
  const on = postgres ? 'PostgreSQL' : 'SQLite';
  test(`T57: On ${on} a link that was opened a hundred times decides once, then shows the outcome`, async (t) => {
    const fixture = await openDecisionFixture(t, { postgres });
    const gated = await fixture.gate({ destroys: ['terraform_data.a', 'terraform_data.b'] });
    const { approve } = await fixture.links(gated.approvalId);
    const before = (await ledger(fixture)).length;
    for (let n = 0; n < 100; n += 1) assert.equal((await ask(approve, 'GET')).status, 200);
    assert.equal((await ask(approve, 'HEAD')).status, 200);
    assert.equal((await ask(approve, 'OPTIONS')).status, 404);
    await assertPending(fixture, gated);
    assert.equal((await ledger(fixture)).length, before);

    const wakes = fixture.program.wakes();
    const first = await ask(approve, 'POST', { reason: 'looks fine' });
    assert.equal(first.status, 200);
    assert.match(first.text, /✓ Approved at \d\d:\d\d:\d\d UTC/);
    assert.ok(first.text.includes(`Job ${gated.jobId} is queued.`));
    assert.equal(await fixture.jobState(gated.jobId), 'queued');
    assert.equal(fixture.program.wakes(), wakes + 1);
    const { state, decided_by, decided_via, reason } = await fixture.approval(gated.approvalId);
    assert.deepEqual(
      { state, decided_by, decided_via, reason },
      { state: 'approved', decided_by: 'ana', decided_via: 'link', reason: 'looks fine' },
    );

    const second = await ask(approve, 'POST', { reason: 'again' });
    const visit = await ask(approve, 'GET');
    assert.deepEqual([second.status, visit.status], [409, 200]);
    assert.equal(second.text, visit.text);
    assert.match(visit.text, /Already approved at \d\d:\d\d:\d\d UTC by ana/);
    assert.match(visit.text, /with a decision link/);
    assert.equal((await ledger(fixture)).filter(({ operation }) => operation === 'approval.decision').length, 1);
  });
}

describe('A decision link', () => {
  test('shows counts and addresses and no value, from one small answer that asks for nothing else', async (t) => {
    const fixture = await openDecisionFixture(t);
    const { approvalId } = await fixture.gate({
      destroys: Array.from({ length: 30 }, (_, n) => `module.edge.terraform_data.host["rack-${n}"]`),
    });
    const { approve, reject } = await fixture.links(approvalId);
    const { text, headers } = await ask(approve, 'GET');
    assert.match(text, /<h1>Apply plan to net\?<\/h1>/);
    assert.match(text, /Destroys or replaces 30/);
    assert.match(text, /host\[&quot;rack-0&quot;\]/);
    assert.match(text, /and \d+ more/);
    assert.match(text, /Plan: .*2 to change, 1 to create\./);
    assert.match(text, /Asked by ci-deploy\./);
    assert.match(text, /Approve, destroying 30<\/button>/);
    assert.ok(Buffer.byteLength(text) <= 8_192, `${Buffer.byteLength(text)} bytes`);
    assert.ok(!text.includes(VALUE));
    assert.doesNotMatch(text, /<script|src=|href=/);
    assert.ok(!text.includes(new URL(approve).searchParams.get('token') ?? ''));
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('x-robots-tag'), 'noindex');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.match((await ask(reject, 'GET')).text, /Reject apply<\/button>/);
  });

  test('rejects, and the job is cancelled', async (t) => {
    const fixture = await openDecisionFixture(t);
    const { approvalId, jobId } = await fixture.gate();
    const { approve, reject } = await fixture.links(approvalId);
    const answer = await ask(reject, 'POST');
    assert.equal(answer.status, 200);
    assert.match(answer.text, /Rejected at .* UTC/);
    assert.equal(await fixture.jobState(jobId), 'cancelled');
    const late = await ask(approve, 'POST');
    assert.equal(late.status, 409);
    assert.match(late.text, /Already rejected at .* UTC by ana/);
    assert.equal((await fixture.approval(approvalId)).state, 'rejected');
  });

  test('T57: works only for its own approval and decision, and every other use gets the same answer', async (t) => {
    const fixture = await openDecisionFixture(t);
    const [one, other] = [await fixture.gate(), await fixture.gate()];
    const links = await fixture.links(one.approvalId);
    const unknown = 'A'.repeat(43);
    const path = (id: string, decision: string, query: string): string =>
      `${fixture.url}/approval/${id}/${decision}${query}`;
    const wrong = [
      path(one.approvalId, 'approve', `?token=${unknown}`),
      path(one.approvalId, 'approve', `?token=${tokenOf(links.reject)}`),
      path(one.approvalId, 'reject', `?token=${tokenOf(links.approve)}`),
      path(other.approvalId, 'approve', `?token=${tokenOf(links.approve)}`),
      path(one.approvalId, 'Approve', `?token=${tokenOf(links.approve)}`),
      path('apr_x', 'approve', `?token=${tokenOf(links.approve)}`),
      path(one.approvalId, 'approve', `?token=${tokenOf(links.approve)}&token=${tokenOf(links.approve)}`),
      path(one.approvalId, 'approve', ''),
      path(one.approvalId, '__proto__', '?token=%00'),
    ];
    const texts = new Set<string>();
    for (const url of wrong) {
      for (const method of ['GET', 'POST']) {
        const { status, text } = await ask(url, method);
        assert.equal(status, 404, `${method} ${url}`);
        texts.add(text);
      }
    }
    assert.equal(texts.size, 1);
    await assertPending(fixture, one);
    await assertPending(fixture, other);
    assert.equal(
      (await ask(`${links.approve}&utm_source=chat`, 'GET')).status,
      200,
      'what a chat program adds does no harm',
    );
  });

  test('T57: is stored as a hash only, and is in no log and no audit row', async (t) => {
    const fixture = await openDecisionFixture(t);
    const { approvalId } = await fixture.gate();
    const links = await fixture.links(approvalId);
    await ask(links.approve, 'GET');
    await ask(links.reject, 'POST');
    const file = fixture.program.storeFile ?? assert.fail('the program has no file');
    const bytes = Buffer.concat([readFileSync(file), readFileSync(`${file}-wal`)]);
    const kept = JSON.stringify([await ledger(fixture), fixture.logged, fixture.program.logged]);
    for (const url of [links.approve, links.reject]) {
      assert.ok(!bytes.includes(tokenOf(url)), 'the database holds a token');
      assert.ok(!kept.includes(tokenOf(url)));
    }
    assert.ok(bytes.includes(approvalId), 'the file that was searched holds the approval');
  });

  test('of twenty posts at a time, through both links of two people, one decides', async (t) => {
    const fixture = await openDecisionFixture(t);
    const { approvalId, jobId } = await fixture.gate();
    const [ana, bo] = [await fixture.links(approvalId, 'ana'), await fixture.links(approvalId, 'bo')];
    const urls = Array.from({ length: 5 }, () => [ana.approve, ana.reject, bo.approve, bo.reject]).flat();
    const answer = await Promise.all(urls.map((url) => ask(url, 'POST')));
    assert.deepEqual(
      answer.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, ...Array.from({ length: 19 }, () => 409)],
    );
    const { state } = await fixture.approval(approvalId);
    assert.equal(await fixture.jobState(jobId), state === 'approved' ? 'queued' : 'cancelled');
    assert.equal((await ledger(fixture)).filter(({ operation }) => operation === 'approval.decision').length, 1);
  });

  test("is replaced by a newer one for the same person, and by no one else's", async (t) => {
    const fixture = await openDecisionFixture(t);
    const { approvalId } = await fixture.gate();
    const old = await fixture.links(approvalId, 'ana');
    const newer = await fixture.links(approvalId, 'ana');
    await fixture.links(approvalId, 'bo');
    assert.equal((await ask(old.approve, 'POST')).status, 404);
    assert.equal((await ask(newer.approve, 'GET')).status, 200);
    assert.equal((await fixture.program.store.db.selectFrom('decision_links').select('hash').execute()).length, 4);
  });

  test('shows a decision that another person made elsewhere', async (t) => {
    const fixture = await openDecisionFixture(t);
    const { approvalId } = await fixture.gate();
    const { approve } = await fixture.links(approvalId);
    const decider = { name: 'bo', owner: 'bo', via: 'api' };
    await fixture.program.store.write((tx) =>
      decide(fixture.runtime, tx, { approvalId, decision: 'reject', reason: 'not today', decider, files: NOT_LOOKED }),
    );
    const visit = await ask(approve, 'GET');
    assert.equal(visit.status, 200);
    assert.match(visit.text, /Already rejected at .* UTC by bo/);
    assert.match(visit.text, /over the API/);
    assert.match(visit.text, /Reason: not today/);
    assert.equal((await ask(approve, 'POST')).status, 409);
  });

  test('decides nothing once the time is over', async (t) => {
    const fixture = await openDecisionFixture(t);
    const gated = await fixture.gate({ ttlMs: 3_600_000 });
    const { approve, reject } = await fixture.links(gated.approvalId);
    await fixture.program.store.write((tx) =>
      tx.db
        .updateTable('approvals')
        .set({ expires_at: tx.now - 1 })
        .execute(),
    );
    for (const url of [approve, reject]) {
      assert.match((await ask(url, 'GET')).text, /Expired at .*No one decided in time/s);
      const { status, text } = await ask(url, 'POST');
      assert.equal(status, 409);
      assert.match(text, /Nothing runs/);
    }
    assert.notEqual((await fixture.approval(gated.approvalId)).state, 'approved');
    assert.notEqual(await fixture.jobState(gated.jobId), 'queued');
  });

  test('T90: a plan that is out of date is not approved by a link, and can be rejected', async (t) => {
    const fixture = await openDecisionFixture(t);
    const gated = await fixture.gate({ destroys: ['terraform_data.a'] });
    const { approve, reject } = await fixture.links(gated.approvalId);
    await fixture.program.store.write((tx) =>
      tx.db.updateTable('workspaces').set({ serial: 43 }).where('name', '=', WORKSPACE).execute(),
    );
    const visit = await ask(approve, 'GET');
    assert.equal(visit.status, 200);
    assert.match(visit.text, /The state moved to serial 43 .* Someone must plan again\./);
    assert.doesNotMatch(visit.text, /<button/);
    assert.equal((await ask(approve, 'POST')).status, 409);
    await assertPending(fixture, gated);
    assert.match((await ask(reject, 'GET')).text, /<button/);
    assert.equal((await ask(reject, 'POST')).status, 200);
    assert.equal((await fixture.approval(gated.approvalId)).state, 'rejected');
  });

  test('shows no button to approve where the plan was altered', async (t) => {
    const fixture = await openDecisionFixture(t);
    const { approvalId, artifactId } = await fixture.gate({ destroys: ['terraform_data.a'] });
    const { approve, reject } = await fixture.links(approvalId);
    const { sealed_view: sealed } = await fixture.program.store.db
      .selectFrom('artifacts')
      .select('sealed_view')
      .where('id', '=', artifactId)
      .executeTakeFirstOrThrow();
    const altered = Buffer.from(sealed);
    altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1;
    await fixture.program.store.write((tx) => tx.db.updateTable('artifacts').set({ sealed_view: altered }).execute());
    const visit = await ask(approve, 'GET');
    assert.equal(visit.status, 200);
    assert.match(visit.text, /Destroys or replaces 1/);
    assert.deepEqual(
      visit.text.match(/<button[^>]*>[^<]*/g)?.map((button) => button.replace(/.*>/, '')),
      ['Reject apply'],
    );
    assert.match((await ask(reject, 'GET')).text, /<button/);
  });

  test('asks about a job without a plan too', async (t) => {
    const fixture = await openDecisionFixture(t);
    const { approvalId, jobId } = await fixture.gate({ planned: false });
    const { approve } = await fixture.links(approvalId);
    assert.match((await ask(approve, 'GET')).text, /Apply net without a saved plan\?.*Approve apply/s);
    assert.equal((await ask(approve, 'POST')).status, 200);
    assert.equal(await fixture.jobState(jobId), 'queued');
  });
});

test('T11: No answer of the ingress listener contains a foreign Host header', async (t) => {
  const fixture = await openDecisionFixture(t);
  const { approvalId } = await fixture.gate();
  const { approve } = await fixture.links(approvalId);
  const send = (method: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const form = method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
      const sent = request(
        approve,
        { method, headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example', ...form } },
        (response) => {
          let text = JSON.stringify(response.rawHeaders);
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => resolve(text));
        },
      );
      sent.on('error', reject).end(method === 'POST' ? `seen=${proofOf(tokenOf(approve))}` : undefined);
    });
  for (const method of ['GET', 'POST', 'POST', 'DELETE']) assert.ok(!(await send(method)).includes('evil'));
  assert.equal((await fixture.approval(approvalId)).state, 'approved');
});

test('What is neither a hook nor a link is an envelope of 404', async (t) => {
  const fixture = await openDecisionFixture(t);
  for (const path of [
    '/',
    '/hook/x',
    '/approval',
    '/approval/',
    '/approval/a/b/c',
    '/api/v1/approvals',
    '//approval/a/approve',
  ]) {
    const { status, text } = await ask(`${fixture.url}${path}`, 'GET');
    assert.equal(status, 404);
    assert.match(text, /^\{"schema_version":1,"kind":"error"/);
  }
});
