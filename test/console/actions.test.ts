/** What one does in the console: each form is checked as the API checks, and a refusal is shown on its page. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ACTIONS, PAGES } from '../../src/faces/web/pages/table.ts';
import { AREA_PAGES } from '../../src/faces/areas/pages.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { getJob } from '../../src/store/jobs/jobs.ts';
import { restartOf } from '../../src/store/maintenance/restarts.ts';
import { gate } from '../support/fixtures/approvals.ts';
import { onMachine } from '../support/console/story.ts';
import { startProgram } from '../support/program.ts';
import { daemonRow } from '../support/restart/daemon-row.ts';
import { formsOf, visit } from '../support/console/visitor.ts';

describe('In the console', () => {
  it('each action has a page and an operation, and no operation that wants a bearer token', () => {
    for (const { path, page, operation, fields } of ACTIONS) {
      assert.ok(
        PAGES.some((each) => each.path === page),
        path,
      );
      const row = OPERATIONS.find(({ id }) => id === operation);
      assert.ok(row !== undefined && row.bearerOnly !== true, path);
      for (const field of fields) assert.ok(field in row.input.shape, `${path}: ${field}`);
    }
  });

  it('each addition has a page, which may ask what the addition asks', () => {
    for (const { to, reads } of AREA_PAGES.flatMap(({ additions = [] }) => additions)) {
      const page = PAGES.find(({ path }) => path === to);
      assert.ok(page !== undefined, to);
      for (const operation of reads) assert.ok(page.reads.includes(operation), `${to}: ${operation}`);
    }
  });

  it('point 36: a mute that ended is made again by the command beside it', async (t) => {
    const program = await startProgram(t);
    const reason = "it's <new>";
    const given = { scope_kind: 'host', scope_value: 'db 1', reason };
    await onMachine(program, 'mute.add', { ...given, for: '1h' });
    const visitor = await visit(program, program.tokens.readonly);
    assert.doesNotMatch((await visitor.open('/quiet')).text, /Ended in the last 7 days/, 'it holds');
    const ended = { expires_at: Date.now() - 60_000 };
    await program.store.write(({ db }) => db.updateTable('mutes').set(ended).execute());
    const { text } = await visitor.open('/quiet');
    const [, command = ''] = /<h3>Ended in the last 7 days.*?<code>(.*?)<\/code> <button/s.exec(text) ?? [];
    const again = String.raw`--for 2h --reason &#39;it&#39;\&#39;&#39;s &lt;new&gt;&#39;`;
    assert.equal(command, `svc mute add host &#39;db 1&#39; ${again}`);
    const [, query = ''] = /href="\/quiet\/mute\?([^"]*)">Change it/.exec(text) ?? [];
    const filled = await visitor.open(`/quiet/mute?${query.replaceAll('&amp;', '&')}`);
    assert.match(filled.text, /<dt>Mute of<\/dt><dd>host db 1<.*<dd>0 of 0 notifications; requests/s);
    assert.ok(filled.text.includes(`<code>${command}</code>`), 'the same command');
    assert.match(filled.text, /<option value="host" selected>.*name="scope_value" value="db 1"/s);
    await program.store.write(({ db }) => db.updateTable('mutes').set({ expires_at: 1 }).execute());
    assert.doesNotMatch((await visitor.open('/quiet')).text, /Ended in the last 7 days/, 'too long ago');
  });

  it('point 36: the form of a new mute needs no script, is checked as the command, and makes nothing', async (t) => {
    const program = await startProgram(t);
    const visitor = await visit(program, program.tokens.readonly);
    const empty = await visitor.open('/quiet/mute');
    assert.equal(empty.status, 200);
    assert.match(empty.text, /<select name="scope_kind"><option value="alert">/);
    for (const [query, status, words] of [
      ['scope_kind=host', 400, /role="alert">scope_value: required for a mute of scope host/],
      ['scope_kind=global&for=soon', 400, /role="alert">for: expected/],
      ['scope_kind=global&hold=all', 400, /is no filter of this page/],
      ['scope_kind=alert&scope_value=DiskFull', 200, /<code>svc mute add alert DiskFull --for 2h<\/code>/],
      [
        'scope_kind=global&for=30m&reason=a+%3Cb%3E',
        200,
        /<code>svc mute add global --for 30m --reason &#39;a &lt;b&gt;&#39;</,
      ],
    ] as const) {
      const answer = await visitor.open(`/quiet/mute?${query}`);
      assert.equal(answer.status, status, query);
      assert.match(answer.text, words);
      assert.match(answer.text, /<button>Preview<\/button>/, 'the form stays');
    }
    assert.deepEqual(await program.store.db.selectFrom('mutes').select('id').execute(), []);
  });

  for (const scope of ['operator', 'approve'] as const)
    it(`a person with the scope ${scope} approves, once, and gets to the job`, async (t) => {
      const program = await startProgram(t);
      const { approval, jobId } = await gate(program.store, { planned: false });
      const visitor = await visit(program, program.tokens[scope]);
      const page = `/approvals/${approval.id}`;
      const [form] = formsOf((await visitor.open(page)).text);
      const fields = { ...form?.hidden, decision: 'approve', reason: 'read it' };
      for (const time of ['first', 'again']) {
        const { status, headers } = await visitor.post(`${page}/decision`, fields);
        assert.deepEqual([status, headers.get('location')], [303, `/jobs/${jobId}`], time);
      }
      assert.equal((await getJob(program.store.db, jobId)).state, 'queued');
      const { text } = await visitor.open(page);
      assert.match(text, /read it/);
      assert.equal(formsOf(text).length, 1, 'to sign out');
      const late = await visitor.post(`${page}/decision`, { ...fields, key: 'another', decision: 'reject' });
      assert.equal(late.status, 409);
      assert.match(late.text, /<div role="alert"><p>[^<]*approved/);
    });

  it('who asked, and who may not decide, gets no button, and a form of another is refused', async (t) => {
    const program = await startProgram(t);
    const asker = await visit(program, program.tokens.operator);
    const [, name = ''] = /Signed in as (\S+) of/.exec((await asker.open('/')).text) ?? [];
    const asked = { planned: false, requestedBy: name, owners: ['operator'] };
    const { approval, jobId } = await gate(program.store, asked);
    const page = `/approvals/${approval.id}`;
    for (const [scope, words] of [
      ['operator', /You asked for this job, so another person must decide/],
      ['readonly', /sign in with the scope approve or operator; yours is readonly/],
    ] as const) {
      const visitor = await visit(program, program.tokens[scope]);
      const { text } = await visitor.open(page);
      assert.match(text, words);
      const [signOut] = formsOf(text);
      const posted = await visitor.post(`${page}/decision`, { ...signOut?.hidden, decision: 'approve' });
      assert.equal(posted.status, 403);
      assert.match(posted.text, /<div role="alert">/);
    }
    assert.equal((await getJob(program.store.db, jobId)).state, 'awaiting_approval');
  });

  it('T08: a form without the token of the session, or from elsewhere, changes nothing', async (t) => {
    const program = await startProgram(t);
    const id = await program.queue();
    const visitor = await visit(program, program.tokens.operator);
    for (const csrf of ['', 'x'.repeat(43)])
      assert.equal((await visitor.post(`/jobs/${id}/cancel`, { csrf })).status, 403);
    assert.equal((await visitor.post(`/jobs/${id}/cancel`, {})).status, 403);
    assert.equal((await getJob(program.store.db, id)).state, 'queued');
    const { status, headers } = await visitor.submit(`/jobs/${id}`, `/jobs/${id}/cancel`);
    assert.deepEqual([status, headers.get('location')], [303, `/jobs/${id}`]);
    assert.equal((await getJob(program.store.db, id)).state, 'cancelled');
  });

  it('what no one reviews is queued only after its name was typed', async (t) => {
    const program = await startProgram(t);
    await gate(program.store, { ttlMs: 1 });
    const visitor = await visit(program, program.tokens.operator);
    for (const [verb, confirm] of [
      ['destroy', ''],
      ['destroy', 'other'],
      ['apply', ''],
    ] as const) {
      const { status, text } = await visitor.submit('/workspaces/net', `/workspaces/net/${verb}`, { confirm });
      assert.equal(status, 400);
      assert.match(text, /confirm: type net to confirm\./);
    }
    const { status, headers } = await visitor.submit('/workspaces/net', '/workspaces/net/destroy', { confirm: 'net' });
    assert.equal(status, 303);
    const id = headers.get('location')?.replace('/jobs/', '') ?? '';
    const job = await getJob(program.store.db, id);
    assert.deepEqual([job.kind, job.trigger], ['destroy', 'web']);
  });

  it('the service is cordoned and opened again, and each page says so', async (t) => {
    const program = await startProgram(t);
    const visitor = await visit(program, program.tokens.operator);
    assert.equal((await visitor.submit('/maintenance', '/maintenance/cordon')).status, 303);
    for (const page of ['/', '/secrets']) assert.match((await visitor.open(page)).text, /The service is cordoned/);
    assert.match((await visitor.open('/maintenance')).text, /<h1>It is safe to reboot<\/h1>/);
    assert.equal((await visitor.submit('/maintenance', '/maintenance/uncordon')).status, 303);
    assert.doesNotMatch((await visitor.open('/')).text, /is cordoned/);
  });

  it('a daemon restarts in place only after its name was typed, and the page says how far that is', async (t) => {
    const program = await startProgram(t);
    await daemonRow(program, 'older-digest');
    const visitor = await visit(program, program.tokens.operator);
    const path = '/maintenance/nodes/web1/restart';
    const refused = await visitor.submit('/maintenance', path, { confirm: 'web' });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /confirm: type web1 to confirm\./);
    assert.equal((await restartOf(program.store.db, 'web1'))?.state, 'idle');
    assert.equal((await visitor.submit('/maintenance', path, { confirm: 'web1' })).status, 303);
    assert.match((await visitor.open('/maintenance')).text, /<dt>State<\/dt><dd>requested/);
    const reader = await visit(program, program.tokens.readonly);
    const { text } = await reader.open('/maintenance');
    assert.deepEqual([/Restart web1/.test(text), /requested/.test(text)], [false, true]);
  });

  it('after signing in one gets the page that was asked for, and never another server', async (t) => {
    const program = await startProgram(t, { basePath: '/ops' });
    const first = await fetch(`${program.url}/jobs?state=failed`);
    assert.equal(first.status, 401);
    assert.match(await first.text(), /name="next" value="\/jobs\?state=failed"/);
    const leads = async (next: string): Promise<string | null> => {
      const body = new URLSearchParams({ token: program.tokens.operator, next });
      const response = await fetch(`${program.url}/login`, { method: 'POST', body, redirect: 'manual' });
      assert.equal(response.status, 303);
      return response.headers.get('location');
    };
    assert.equal(await leads('/jobs?state=failed'), '/ops/jobs?state=failed');
    for (const next of [
      '//evil.example/',
      'https://evil.example/',
      '/\\evil.example',
      '/./\\evil.example',
      '',
      '/..//evil',
    ])
      assert.equal(await leads(next), '/ops/', next);
  });

  it('a form that is sent after the end of the session leads through the sign-in page back to its page', async (t) => {
    const program = await startProgram(t);
    const { approval } = await gate(program.store, { planned: false });
    const response = await fetch(`${program.url}/approvals/${approval.id}/decision`, {
      method: 'POST',
      body: new URLSearchParams({ decision: 'approve' }),
    });
    assert.equal(response.status, 401);
    assert.match(await response.text(), new RegExp(`name="next" value="/approvals/${approval.id}"`));
  });

  it('a form that was changed after Back is another request, and a refusal changes nothing', async (t) => {
    const program = await startProgram(t);
    const { approval, jobId } = await gate(program.store, { planned: false });
    const visitor = await visit(program, program.tokens.operator);
    const page = `/approvals/${approval.id}`;
    const [form] = formsOf((await visitor.open(page)).text);
    const approved = await visitor.post(`${page}/decision`, { ...form?.hidden, decision: 'approve' });
    assert.equal(approved.status, 303);
    const rejected = await visitor.post(`${page}/decision`, { ...form?.hidden, decision: 'reject' });
    assert.equal(rejected.status, 409);
    assert.match(rejected.text, /is approved already/);
    assert.equal((await getJob(program.store.db, jobId)).state, 'queued');
  });

  it('a reason keeps its lines, and one signs out of a session that has ended', async (t) => {
    const program = await startProgram(t);
    const { approval } = await gate(program.store, { planned: false });
    const visitor = await visit(program, program.tokens.operator);
    const page = `/approvals/${approval.id}`;
    await visitor.submit(page, `${page}/decision`, { decision: 'reject', reason: 'one\r\ntwo' });
    assert.match((await visitor.open(page)).text, /one\\ntwo/);
    const { text } = await visitor.open('/');
    const [signOut] = formsOf(text);
    for (const time of ['first', 'again']) {
      const { status, headers } = await visitor.post('/logout', signOut?.hidden ?? {});
      assert.deepEqual([status, headers.get('location')], [303, '/'], time);
    }
  });
});
