/** Pages from a real daemon, as a phone, a mailbox and a program get them. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { until } from '../../support/api-client.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { openMailSink, openReceiver, type Receiver } from '../../support/notify/receiver.ts';
import { openFixture, type Fixture, type FixtureFlags } from '../../support/fixtures/installation.ts';

const titled = (receiver: Receiver, title: RegExp) => receiver.pages.filter(({ page }) => title.test(page.title));

const HOUR_MS = 3_600_000;

/**
 * The environment of a daemon that notifies this receiver: a target may hold a password, so it is on no command line.
 */
const flagsOf = (receiver: Receiver, env: Readonly<Record<string, string>> = {}): FixtureFlags => ({
  env: { SVC_NOTIFY: `ntfy+${receiver.url}/ops`, ...env },
});

async function arm(fixture: Fixture, jobId: string): Promise<void> {
  await fixture.call('job.notify', { id: jobId });
}

test('A failed job, and an armed one that succeeds, are each notified once by ntfy, webhook and mail', async (t) => {
  const [ntfy, hook, mail] = await Promise.all([openReceiver(t), openReceiver(t), openMailSink(t)]);
  const fixture = await openFixture(t);
  const targets = [`ntfy+${ntfy.url}/ops`, `${hook.url}/pages`, `smtp://127.0.0.1:${mail.port}?to=ops@example.com`];
  const daemon = await fixture.start({ env: { SVC_NOTIFY: targets.join(' ') } });
  const armed = await fixture.queue({ command: ['sleep', '0.5'] });
  await arm(fixture, armed);
  await arm(fixture, armed);
  const quiet = await fixture.queue({ command: ['true'] });
  const failed = await fixture.queue({ command: ['sh', '-c', 'exit 3'] });
  for (const job of [armed, quiet, failed]) await fixture.waitFor(job, ['succeeded', 'failed']);
  await until('all targets got both ends', async () =>
    ntfy.pages.length === 2 && hook.pages.length === 2 && mail.mails.length === 2 ? true : undefined,
  );
  const [page] = titled(ntfy, /failed/);
  assert.equal(page?.path, '/');
  assert.partialDeepStrictEqual(page?.page, {
    topic: 'ops',
    title: `command:localhost failed · gatehouse on ${hostname()}`,
    message: `Job ${failed} failed with exit code 3.`,
    click: `${daemon.ready.web_url}/jobs/${failed}`,
    actions: [],
  });
  assert.match(page?.page.sequence_id ?? '', /^page_[0-9a-z]{26}$/);
  assert.deepEqual(
    new Set(hook.pages.map((each) => each.page.id)),
    new Set(ntfy.pages.map((each) => each.page.sequence_id)),
  );
  assert.match(
    mail.mails.map(({ text }) => text).join('\n'),
    new RegExp(String.raw`Subject: =\?UTF-8\?Q\?command=3Alocalhost_failed_=C2=B7_[^]*${failed}`),
  );
  assert.equal(mail.mails[0]?.to, 'ops@example.com');
  assert.equal(ntfy.pages.filter((each) => each.page.message.includes(quiet)).length, 0, 'that one was not armed');
});

test('An approval has buttons with the detail full only, its outcome follows; terse says that one waits', async (t) => {
  for (const detail of ['full', 'summary', 'terse'] as const) {
    const receiver = await openReceiver(t);
    const fixture = await openFixture(t);
    await fixture.start(flagsOf(receiver, { SVC_PUSH_DETAIL: detail, SVC_PUBLIC_URL: 'https://svc.example.com' }));
    const { approval, jobId } = await gate(fixture.store, { planned: false });
    await until('the request arrived', async () => receiver.pages[0]);
    const { page } = receiver.pages[0]!;
    assert.equal(page.click, `https://svc.example.com/approvals/${approval.id}`);
    assert.match(page.message, new RegExp(jobId));
    assert.deepEqual(
      page.actions.map((each) => each.label),
      detail === 'full' ? ['Review command', 'Reject command', 'Open'] : [],
    );
    assert.match(
      page.title,
      detail === 'terse' ? /^svc: 1 approval pending$/ : /^Approve\? Run a command on .* · gatehouse on /,
    );
    if (detail === 'full')
      assert.match(
        page.actions[0]?.url ?? '',
        new RegExp(`^https://svc\\.example\\.com/approval/${approval.id}/approve\\?token=`),
      );
    else assert.ok(!JSON.stringify(receiver.pages).includes('token='), 'a capability without buttons');
    await fixture.call('approval.decision', { id: approval.id, decision: 'reject' });
    await until('the outcome arrived', async () => receiver.pages[1]);
    assert.partialDeepStrictEqual(receiver.pages[1]?.page, {
      priority: 2,
      ...(detail === 'terse' ? { title: 'svc: 1 approval rejected' } : {}),
    });
    if (detail !== 'terse')
      assert.match(receiver.pages[1]?.page.title ?? '', /^Rejected: Run a command on .* · gatehouse on /);
  }
});

test('A Reject button of a notification decides, as the target that it was sent to', async (t) => {
  const receiver = await openReceiver(t);
  const fixture = await openFixture(t);
  const daemon = await fixture.start(flagsOf(receiver, { SVC_PUSH_DETAIL: 'full' }));
  const { approval } = await gate(fixture.store, { planned: false });
  await until('the request arrived', async () => receiver.pages[0]);
  const button = receiver.pages[0]!.page.actions[1]!;
  assert.ok(button.url.startsWith(daemon.ready.ingress_url));
  assert.equal((await fetch(button.url, { method: button.method ?? 'GET' })).status, 200);
  const row = await fixture.store.db
    .selectFrom('approvals')
    .selectAll()
    .where('id', '=', approval.id)
    .executeTakeFirstOrThrow();
  assert.partialDeepStrictEqual(row, { state: 'rejected', decided_by: 'notify:ntfy-1', decided_via: 'link' });
  await until('the outcome arrived', async () =>
    receiver.pages.find(({ page }) => page.message.startsWith('Rejected by ntfy-1 (ntfy at 127.0.0.1) via link. ')),
  );
});

test('T72: A link of a target decides only while the daemon was started with that target', async (t) => {
  const receiver = await openReceiver(t);
  const fixture = await openFixture(t);
  const ops = (name: string): FixtureFlags => ({
    env: { SVC_NOTIFY: `${name}=ntfy+${receiver.url}/ops`, SVC_PUSH_DETAIL: 'full' },
  });
  const first = await fixture.start(ops('ops'));
  const { approval } = await gate(fixture.store, { planned: false });
  const sent = await until('the request arrived', async () => receiver.pages[0]?.page.actions.at(0)?.url);
  const { pathname, search } = new URL(sent);
  // A delivery that is not recorded is sent again, with new links in place of these.
  await until('the delivery is recorded', () =>
    fixture.store.db.selectFrom('deliveries').select('page_id').where('state', '=', 'sent').executeTakeFirst(),
  );
  await first.kill();
  const second = await fixture.start(ops('dev'));
  // The one that was killed counts until its death is noticed.
  const refused = await until('the target is gone', async () => {
    const response = await fetch(`${second.ready.ingress_url}${pathname}${search}`);
    return response.status === 403 ? response : undefined;
  });
  assert.match(await refused.text(), /The notification target notify:ops is no longer configured/);
  assert.equal((await fetch(refused.url, { method: 'POST' })).status, 403);
  await second.stop();
  const third = await fixture.start(ops('ops'));
  assert.equal((await fetch(`${third.ready.ingress_url}${pathname}${search}`)).status, 200);
  const { state } = await fixture.store.db
    .selectFrom('approvals')
    .select('state')
    .where('id', '=', approval.id)
    .executeTakeFirstOrThrow();
  assert.equal(state, 'pending');
});

test('Approving a plan that destroys opens the page that lists it; rejecting it is one tap', async (t) => {
  const receiver = await openReceiver(t);
  const fixture = await openFixture(t);
  await fixture.start(flagsOf(receiver, { SVC_PUSH_DETAIL: 'full' }));
  await gate(fixture.store, {});
  await until('the request arrived', async () => receiver.pages[0]);
  const { page } = receiver.pages[0]!;
  assert.equal(page.title, `Approve? Apply net: 1 to destroy · gatehouse on ${hostname()}`);
  assert.deepEqual(
    page.actions.map(({ action, label }) => [action, label]),
    [
      ['view', 'Review apply'],
      ['http', 'Reject apply'],
      ['view', 'Plan'],
    ],
  );
});

test('Twelve requests at once are one notification; five and their reminders at half time are separate', async (t) => {
  const receiver = await openReceiver(t);
  const fixture = await openFixture(t);
  await fixture.start(flagsOf(receiver));
  const { approval } = await gate(fixture.store, { planned: false });
  await until('it arrived', async () => receiver.pages[0]);
  // Half of its time is over a moment after the notification, and then all of it, however slow the machine is. Two
  // milliseconds: each of the two times is halved, without what is behind the point.
  const { created_at: notifiedAt } = await fixture.store.db
    .selectFrom('pages')
    .select('created_at')
    .where('approval_id', '=', approval.id)
    .executeTakeFirstOrThrow();
  const setTimes = (created_at: number, expires_at: number) =>
    fixture.store.write(async (tx) => {
      await tx.db.updateTable('approvals').set({ created_at, expires_at }).where('id', '=', approval.id).execute();
      // The daemon sleeps until the times that it knows.
      tx.announce();
    });
  await setTimes(notifiedAt + 2 - HOUR_MS, notifiedAt + 2 + HOUR_MS);
  await until('its reminder arrived', async () =>
    titled(receiver, /^Still waiting: /).length === 1 ? true : undefined,
  );
  await setTimes(notifiedAt - HOUR_MS, notifiedAt);
  await until('its end arrived', async () => (titled(receiver, /^Expired: /).length === 1 ? true : undefined));
  receiver.pages.length = 0;
  // By one write, so that one pass finds them all.
  await Promise.all(Array.from({ length: 12 }, () => gate(fixture.store, { planned: false })));
  await until('they arrived', async () => (titled(receiver, /approvals pending · /).length === 1 ? true : undefined));
  assert.ok(receiver.pages.length <= 6, `${receiver.pages.length} notifications`);
});

test('A muted notification is never sent, and requests for approval are not muted', async (t) => {
  const receiver = await openReceiver(t);
  const fixture = await openFixture(t);
  await fixture.start(flagsOf(receiver));
  await fixture.call('mute.add', { scope_kind: 'global', reason: 'a move', for: '1h' });
  const failed = await fixture.queue({ command: ['false'] });
  await fixture.waitFor(failed, ['failed']);
  await gate(fixture.store, { planned: false });
  await until('the request arrived', async () => receiver.pages[0]);
  await until('the end is recorded as held', async () => {
    const page = await fixture.store.db.selectFrom('pages').selectAll().where('job_id', '=', failed).executeTakeFirst();
    return page?.state === 'held' && page.reason?.startsWith('held by mute_') === true ? page : undefined;
  });
  assert.equal(receiver.pages.filter(({ page }) => page.message.includes(failed)).length, 0);
});

test('Of twelve jobs that fail at once five are notified separately, and seven by one that names them', async (t) => {
  const receiver = await openReceiver(t);
  const fixture = await openFixture(t);
  await fixture.start(flagsOf(receiver));
  const jobs = await Promise.all(Array.from({ length: 12 }, () => fixture.queue({ command: ['false'] })));
  await until('the rest arrived', async () => titled(receiver, / jobs ended: /)[0]);
  assert.equal(titled(receiver, /^7 jobs ended: 7 failed · /).length, 1);
  assert.equal(titled(receiver, /^command:localhost failed · /).length, 5);
  for (const job of jobs) assert.equal(receiver.pages.filter(({ page }) => page.message.includes(job)).length, 1, job);
});
