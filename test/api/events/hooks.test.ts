/** Webhooks over the ingress listener: who may send, what is answered, and what the ledger records. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openHookFixture, tell, INGRESS } from '../../support/fixtures/hooks.ts';

const ALERTS = {
  version: '4',
  status: 'firing',
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'DiskFull', instance: 'db1', severity: 'page' },
      annotations: { summary: 'full' },
      fingerprint: 'aaaaaaaaaaaaaaaa',
    },
    {
      status: 'resolved',
      labels: { alertname: 'DiskFull', instance: 'db2' },
      annotations: {},
      fingerprint: 'bbbbbbbbbbbbbbbb',
    },
  ],
};
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, 'x']));

for (const postgres of [false, true]) {
  const on = postgres ? 'PostgreSQL' : 'SQLite';
  test(`On ${on} a message is answered with an event for each alert, which are on the ledger by then`, async (t) => {
    const fixture = await openHookFixture(t, { postgres });
    const url = await fixture.hook('alertmanager');
    const answer = await tell(url, ALERTS);
    assert.equal(answer.status, 202);
    const rows = await fixture.events();
    assert.match(
      answer.text,
      new RegExp(
        String.raw`^\{"schema_version":1,"kind":"event\.accepted",` +
          String.raw`"data":\{"events":\[\{"event_id":"evt_[0-9a-z]{26}","outcome":"ignored"\},.*\]\}\}\n$`,
      ),
    );
    assert.deepEqual(
      answer.events.map(({ event_id }) => event_id),
      rows.map(({ id }) => id),
    );
    assert.deepEqual(
      rows.map(({ source, name, status, severity, fingerprint, labels, netgroup }) => ({
        source,
        name,
        status,
        severity,
        fingerprint,
        labels,
        netgroup,
      })),
      [
        {
          source: 'alertmanager',
          name: 'DiskFull',
          status: 'firing',
          severity: 'critical',
          fingerprint: 'aaaaaaaaaaaaaaaa',
          labels: { alertname: 'DiskFull', instance: 'db1', severity: 'page', ...INGRESS },
          netgroup: null,
        },
        {
          source: 'alertmanager',
          name: 'DiskFull',
          status: 'resolved',
          severity: null,
          fingerprint: 'bbbbbbbbbbbbbbbb',
          labels: { alertname: 'DiskFull', instance: 'db2', ...INGRESS },
          netgroup: null,
        },
      ],
    );
  });
}

describe('A webhook', () => {
  test('shows its URL once, and the store keeps no token of it', async (t) => {
    const fixture = await openHookFixture(t);
    const url = await fixture.hook('generic', 'nightly');
    const token = url.split('/').at(-1) ?? '';
    assert.match(token, /^[A-Za-z0-9_-]{43}$/);
    const list = await fixture.call<
      { name: string; source: string; created_at: string; last_heard_at: string | null }[]
    >('webhook.list', {});
    assert.deepEqual(
      list.map(({ name, source, last_heard_at }) => ({ name, source, last_heard_at })),
      [{ name: 'nightly', source: 'generic', last_heard_at: null }],
    );
    const tables = await Promise.all(
      (['webhooks', 'ledger', 'idempotency'] as const).map((table) =>
        fixture.program.store.db.selectFrom(table).selectAll().execute(),
      ),
    );
    assert.ok(!JSON.stringify([list, tables]).includes(token));
    const sentAt = Date.now();
    await tell(url, { name: 'x' });
    // That it was heard is noted right behind the message.
    await fixture.program.store.write(() => Promise.resolve());
    const [heard] = await fixture.call<{ last_heard_at: string | null }[]>('webhook.list', {});
    assert.ok(Date.parse(heard?.last_heard_at ?? '') >= sentAt);
  });

  test('has a unique name, and stays closed', async (t) => {
    const fixture = await openHookFixture(t);
    const url = await fixture.hook('generic', 'a');
    await assert.rejects(fixture.hook('gatus', 'a'), /name: a webhook with the name a already exists/);
    assert.equal((await tell(url, { name: 'x' })).status, 202);
    const removed = await fixture.call<{ name: string; source: string }>('webhook.remove', { name: 'a' });
    assert.deepEqual([removed.name, removed.source], ['a', 'generic']);
    assert.equal((await tell(url, { name: 'x' })).status, 404);
    await assert.rejects(fixture.call('webhook.remove', { name: 'a' }), /There is no webhook a\./);
    assert.equal((await fixture.events()).length, 1);
  });

  test('takes POST, PUT and GET, and nothing else', async (t) => {
    const fixture = await openHookFixture(t);
    const url = await fixture.hook('gatus');
    const body = { name: 'shop', status: 'TRIGGERED' };
    assert.equal((await tell(url, body)).status, 202);
    assert.equal((await tell(url, body, { method: 'PUT' })).status, 202);
    assert.equal((await tell(`${url}?name=shop&status=RESOLVED`, undefined, { method: 'GET' })).status, 202);
    for (const method of ['DELETE', 'PATCH', 'OPTIONS', 'HEAD'])
      assert.equal((await tell(url, undefined, { method })).status, 404, method);
    assert.deepEqual(
      (await fixture.events()).map(({ status }) => status),
      ['firing', 'firing', 'resolved'],
    );
  });
});

describe('An event names its webhook', () => {
  test('over any annotation of that name, also for a message that cannot be read', async (t) => {
    const fixture = await openHookFixture(t);
    const [east, west] = [await fixture.hook('alertmanager', 'east'), await fixture.hook('alertmanager', 'west')];
    const alert = { labels: { alertname: 'A' }, annotations: { webhook: 'west', summary: 's' }, fingerprint: 'f' };
    await tell(east, { alerts: [alert, 'poison'] });
    await tell(west, { alerts: [{ ...alert, annotations: {} }] });
    assert.equal((await tell(west, '{')).status, 400);
    assert.deepEqual(
      (await fixture.events()).map(({ outcome, annotations }) => [outcome, annotations]),
      [
        ['ignored', { webhook: 'east', summary: 's' }],
        ['error', { webhook: 'east' }],
        ['ignored', { webhook: 'west' }],
        ['error', { webhook: 'west' }],
      ],
    );
  });

  test('so that rules can use it, and its fingerprint does not depend on the webhook', async (t) => {
    const fixture = await openHookFixture(t);
    await fixture.call('rule.add', {
      text: "name: of-east\nwhen: event.annotations.webhook == 'east'\naction:\n  notify: true\n",
    });
    for (const name of ['east', 'west'])
      await tell(await fixture.hook('generic', name), { name: 'x', labels: { a: 'b' } });
    const [first, second] = await fixture.events();
    assert.deepEqual([first?.rule, second?.rule], ['of-east', null]);
    assert.equal(first?.fingerprint, second?.fingerprint);
  });

  test('and has no more annotations for that than any event may have', async (t) => {
    const fixture = await openHookFixture(t);
    const url = await fixture.hook('generic');
    for (const count of [62, 63, 100]) await tell(url, { name: 'x', annotations: many(count) });
    await tell(url, { name: 'x', annotations: { webhook: 'mine', ...many(61) } });
    assert.deepEqual(
      (await fixture.events()).map(({ annotations: { webhook, gatehouse_cut: cut, ...sent } }) => [
        webhook,
        cut,
        Object.keys(sent).length,
      ]),
      [
        ['generic', undefined, 62],
        ['generic', '1 more annotations left out', 62],
        ['generic', '38 more annotations left out', 62],
        ['generic', undefined, 61],
      ],
    );
  });
});
