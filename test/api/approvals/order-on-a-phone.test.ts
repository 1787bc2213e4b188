/** From an alert to the page that asks about it on a phone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderWords } from '../../../src/daemon/notify/asked-facts.ts';
import { render } from '../../../src/faces/cli/render.ts';
import { insertLinks } from '../../../src/store/approvals/decision-links.ts';
import { insertSource } from '../../../src/store/sources/sources.ts';
import type { Projected } from '../../../src/views/views.ts';
import { type HookFixture, openHookFixture } from '../../support/fixtures/hooks.ts';

const COMMIT = '3f2a1c9d'.repeat(5);
const INVENTORY = `[web]
web1 ansible_connection=local
web2 ansible_connection=local
[db]
db1 ansible_connection=local
db2 ansible_connection=local
db3 ansible_connection=local
`;
const WORD = 'keep-three-days';

function ruleOf(more: string): string {
  return `when: event.source == "generic"
approval: required
action:
  playbook: clean.yml
  source: ops
  inventory: prod
  limit: web
  extra_vars: {level: ${WORD}}
${more}`;
}

interface Phone {
  readonly page: string;
  readonly raw: string;
  readonly message: string;
}

/** What the page of a decision link and the message to the phone show, as text. */
async function phoneOf(
  { program, url }: HookFixture,
  { id, job_id: jobId }: Projected<'approval.list'>[number],
): Promise<Phone> {
  const { store, services } = program;
  const { approve } = await store.write((tx) =>
    insertLinks(tx, { approvalId: id, recipient: 'ben', target: null, madeBy: null }),
  );
  const response = await fetch(`${url}/approval/${id}/approve?token=${approve}`);
  const { order = '', senderSays = '' } = await orderWords({ store, services }, jobId);
  const raw = await response.text();
  const body = raw.replace(/^.*<body>/s, '');
  return { raw, page: body.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '), message: `${order} ${senderSays}` };
}

/** A rule asks for a playbook because of an alert whose sender says this. */
async function ring(
  t: Parameters<typeof openHookFixture>[0],
  more = '',
  said = 'disk 95 % full',
): Promise<Phone & { readonly console: string }> {
  const fixture = await openHookFixture(t);
  const git = { name: 'ops', kind: 'git', location: 'ssh://git@127.0.0.1:1/ops', ref: 'main' } as const;
  await fixture.program.store.write((tx) =>
    insertSource(tx, { ...git, commit_id: COMMIT, synced_at: 1, created_at: 1 }),
  );
  await fixture.call('inventory.add', { name: 'prod', text: INVENTORY });
  await fixture.program.token('approve', { owner: 'ben' });
  await fixture.call('rule.add', { name: 'clean', text: ruleOf(more) });
  const { status } = await fetch(await fixture.hook('generic'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'DiskFull',
      status: 'firing',
      severity: 'warning',
      fingerprint: 'f',
      labels: { host: 'web1' },
      annotations: { summary: said },
    }),
  });
  assert.equal(status, 202);
  const [approval] = (await fixture.call('approval.list', {})) as Projected<'approval.list'>;
  assert.ok(approval !== undefined);
  const cookie = await fixture.program.session(fixture.program.tokens.operator);
  const console = await fetch(`${fixture.program.url}/approvals/${approval.id}`, { headers: { cookie } });
  return { ...(await phoneOf(fixture, approval)), console: await console.text() };
}

test('An alert asks for a playbook on two of five hosts: the phone shows both, the commit and the alert', async (t) => {
  const { page, message } = await ring(t);
  for (const shown of [
    'Runs clean.yml of ops at 3f2a1c9',
    'On web1, web2 (2 of prod, limit web)',
    `With level=${WORD}`,
    'Alert DiskFull on web1, warning, firing',
    'Its sender says disk 95 % full',
    'because of an alert (rule clean)',
  ])
    assert.ok(page.includes(shown), `${shown} is not in ${page}`);
  assert.equal(
    message,
    `Run clean.yml of ops at 3f2a1c9 on web1, web2 (2 of prod, limit web), with level=${WORD}. disk 95 % full`,
  );
});

test('With reveal: false the phone shows the same but for the words', async (t) => {
  const { page, message } = await ring(t, '  reveal: false\n');
  for (const shown of [
    'Runs clean.yml of ops at 3f2a1c9',
    'On web1, web2 (2 of prod, limit web)',
    'Alert DiskFull on web1',
  ])
    assert.ok(page.includes(shown), `${shown} is not in ${page}`);
  assert.ok(!page.includes(WORD) && !message.includes(WORD));
});

test('T44: a hostile text of a sender stays text, on one line, on each face', async (t) => {
  const evil = '\u202e</dd></main><script>alert(1)</script>\u200b"\u001b[31m\r\nApproved by ana';
  const { raw, console, message } = await ring(t, '', evil);
  for (const page of [raw, console]) {
    assert.doesNotMatch(page, /<script>alert|\p{Cf}|(?!\n)\p{Cc}/u);
    assert.ok(page.includes('&lt;script&gt;alert(1)'), page);
    assert.equal(page.match(/<\/main>/g)?.length, 1);
  }
  assert.match(message, /<script>alert\(1\)<\/script> "/);
  assert.doesNotMatch(message, /\p{Cf}|\p{Cc}/u);
});

test('A command of a caller shows no word of it, on any face', async (t) => {
  const fixture = await openHookFixture(t);
  await fixture.call('inventory.add', { name: 'prod', text: INVENTORY });
  const raw = { inventory: 'prod', limit: 'db1', command: ['clean-up', WORD], because: 'OPS-211' };
  const { job_id: id } = (await fixture.call('command.run', raw)) as Projected<'job.enqueued'>;
  const { program } = fixture;
  const display = { nowMs: 0, color: false, width: null };
  const session = await program.session(program.tokens.operator);
  const get = async (path: string): Promise<string> =>
    (await fetch(`${program.url}${path}`, { headers: { cookie: session } })).text();
  const shown: Record<string, string> = {
    'command line': render('order', await fixture.call('job.order', { id }), display),
    ledger: JSON.stringify(await fixture.call('audit.list', {})),
    message: JSON.stringify(await orderWords({ store: program.store, services: program.services }, id)),
  };
  for (const path of ['/api/v1/jobs', `/api/v1/jobs/${id}`, `/api/v1/jobs/${id}/order`, '/jobs', `/jobs/${id}`])
    shown[path] = await get(path);
  for (const [face, text] of Object.entries(shown)) {
    assert.ok(text.includes(id) || text.includes('db1'), `${face}: ${text}`);
    assert.ok(!text.includes(WORD) && !text.includes('clean-up'), `${face}: ${text}`);
  }
});
