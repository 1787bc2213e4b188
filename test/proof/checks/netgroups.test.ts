/** A rule that asks where a message came from: the real daemon behind a proxy, on both databases. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../../support/api-client.ts';
import { tell } from '../../support/fixtures/hooks.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';

const RULE = [
  'name: from-the-office',
  'when: event.netgroup == "office"',
  'action:',
  '  command: ["/bin/echo", "from", "${event.netgroup}"]',
  '  inventory: localhost',
  '',
].join('\n');

interface Office {
  readonly fixture: Fixture;
  /** Sends a message as a proxy on this machine does for a client; its outcome. */
  send(client: string): Promise<string>;
}

async function openOffice(t: Parameters<typeof openFixture>[0], postgres: boolean) {
  const fixture = await openFixture(t, { postgres });
  await fixture.call('rule.add', { text: RULE });
  const { url } = await fixture.call<{ url: string }>('webhook.add', { name: 'printers', source: 'generic' });
  const start = async () => {
    const daemon = await fixture.start({ args: ['--trusted-proxy', '127.0.0.1'] });
    const hook = `${daemon.ready.ingress_url}${new URL(url).pathname}`;
    const send: Office['send'] = async (client) => {
      // Each is another thing, so that none is a duplicate of one before.
      const body = { name: 'stuck', fingerprint: `f${(count += 1)}` };
      const answer = await tell(hook, body, { headers: { 'x-forwarded-for': client } });
      assert.equal(answer.status, 202);
      return answer.events.map(({ outcome }) => outcome).join();
    };
    return { daemon, send };
  };
  let count = 0;
  return { fixture, start };
}

/** Waits for the jobs that messages from the office fired, and answers them. */
async function allSucceed(fixture: Fixture): Promise<string[]> {
  const rows = await fixture.store.db
    .selectFrom('events')
    .select(['job_id', 'labels'])
    .where('outcome', '=', 'fired')
    .orderBy('id')
    .execute();
  for (const { job_id: id, labels } of rows) {
    assert.equal((JSON.parse(labels) as Record<string, string>)['peer_netgroup'], 'office');
    assert.equal((await fixture.waitFor(id ?? '', ['succeeded', 'failed'])).state, 'succeeded');
  }
  return rows.map(({ job_id: id }) => id ?? '');
}

for (const postgres of [false, true]) {
  describe(`Messages from netgroups on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    test('start the job of a rule about their group, as the groups are then, also after a crash', async (t) => {
      const { fixture, start } = await openOffice(t, postgres);
      const first = await start();
      const api = first.daemon.api(fixture.token);
      assert.equal(await first.send('10.0.40.7'), 'ignored');
      const prefixes = '10.0.40.0/21,2001:db8:40::/48,!10.0.47.0/24';
      const added = await api.post<{ id: string }>('/netgroups', { name: 'office', prefixes });
      assert.equal(added.status, 200, added.text);
      assert.equal((await api.post('/netgroups', { name: 'dc', prefixes: '10.0.0.0/16' })).status, 200);
      const outcomes: string[] = [];
      for (const client of ['10.0.40.7', '2001:DB8:40::1', '10.0.41.5, 10.0.47.1', '10.0.1.1', '192.0.2.1'])
        outcomes.push(await first.send(client));
      assert.deepEqual(outcomes, ['fired', 'fired', 'ignored', 'ignored', 'ignored']);

      // Another process changes the group, and the daemon follows.
      await fixture.call('netgroup.set', { name: 'office', prefixes: '10.0.1.0/24' });
      await until('the daemon knows the change', async () => (await first.send('10.0.1.1')) === 'fired');
      assert.equal(await first.send('10.0.40.7'), 'ignored');

      await allSucceed(fixture);
      await first.daemon.kill();
      const second = await start();
      assert.equal(await second.send('10.0.1.2'), 'fired');
      assert.equal(await second.send('10.0.40.7'), 'ignored');
      const last = (await allSucceed(fixture)).at(-1) ?? '';
      const text = (await fixture.events(last)).flatMap((event) => (event.type === 'log' ? [event.text] : []));
      assert.ok(text.includes('from office'), text.join('\n'));
    });
  });
}
