/**
 * T64: Messages that are too large, or that have too many alerts: refused, on the ledger, and counted by the doctor.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { Facts } from '../../../src/doctor/entry.ts';
import { examineIngress } from '../../../src/doctor/events/ingress.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { addRefusals, listRefusals } from '../../../src/store/events/webhook-refusals.ts';
import { until } from '../../support/api-client.ts';
import { type HookFixture, openHookFixture, tell } from '../../support/fixtures/hooks.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

function alerts(count: number): object {
  return {
    alerts: Array.from({ length: count }, (_, n) => ({ status: 'firing', labels: { alertname: 'A', n: String(n) } })),
  };
}

async function doctor({ program }: HookFixture): Promise<string> {
  const { status, detail } = await examineIngress({
    openedStore: () => program.store,
    clock: systemClock,
  } as Partial<Facts> as Facts);
  return `${status} ${detail}`;
}

for (const postgres of [false, true]) {
  const on = postgres ? 'PostgreSQL' : 'SQLite';
  test(
    `On ${on} many alerts are taken, more than 10,000 are refused whole, and ` +
      'the doctor says how many messages of which webhook were refused and why',
    async (t) => {
      const fixture = await openHookFixture(t, { postgres });
      const many = await fixture.hook('alertmanager', 'many');
      assert.equal(await doctor(fixture), 'ok Messages of webhooks: none refused or taken with a fault within a day.');
      // PostgreSQL needs some seconds for the largest message on a busy machine.
      const count = postgres ? 1_500 : 10_000;
      const taken = await tell(many, alerts(count));
      assert.deepEqual(
        [taken.status, taken.events.length, new Set(taken.events.map(({ event_id: id }) => id)).size],
        [202, count, count],
      );
      const refused = await tell(many, alerts(10_001));
      assert.deepEqual(
        [refused.status, refused.text.includes('The payload has 10001 alerts; expected at most 10000.')],
        [400, true],
      );
      const other = await fixture.hook('generic', 'other');
      for (const body of ['{', '{', 'x'.repeat(8_388_609)]) assert.equal((await tell(other, body)).status, 400);
      assert.equal((await tell(other, { name: 'x' }, { headers: { 'content-encoding': 'gzip' } })).status, 400);
      const { url, signing_secret: secret } = await fixture.call<{ url: string; signing_secret: string }>(
        'webhook.add',
        { name: 'signed', source: 'generic', signed: true },
      );
      const at = Math.floor(Date.now() / 1_000);
      const hmac = createHmac('sha256', secret).update(`${at}.{"name":"x"}`);
      const headers = { 'X-Gatehouse-Signature': `t=${at},v1=${hmac.digest('hex')}` };
      const statuses = [
        await tell(url, '{"name":"x"}', { headers }),
        await tell(url, '{"name":"x"}', { headers }),
        await tell(url, '{"name":"x"}'),
      ].map(({ status }) => status);
      assert.deepEqual(statuses, [202, 409, 401]);
      const errors = (await fixture.events()).filter(({ outcome }) => outcome === 'error');
      assert.deepEqual(
        errors.map(({ reason, annotations }) => [annotations['webhook'], reason]),
        [
          ['many', 'The payload has 10001 alerts; expected at most 10000.'],
          // It came twice.
          ['other', 'The payload is not JSON: line 1, column 2.'],
          ['other', 'The body: expected at most 8388608 bytes.'],
          ['other', 'Content-Encoding: a compressed body is not accepted.'],
        ],
      );
      // The counts are written behind the answers.
      const expected =
        'warn Messages of webhooks: 7 refused or taken with a fault within a day: ' +
        'other: 2 not readable, 1 compressed, 1 too large; ' +
        'signed: 1 sent twice with one signature, 1 signature missing or wrong; many: 1 too many alerts. See ' +
        'svc event list --outcome error.';
      await until('the counts are written', async () =>
        (await listRefusals(fixture.program.store.db, Date.now())).reduce((sum, { count }) => sum + count, 0) === 7
          ? true
          : undefined,
      );
      assert.equal(await doctor(fixture), expected);
    },
  );

  test(`On ${on} refusals are forgotten after a day, and many webhooks fill a line and no more`, async (t) => {
    const { program } = await openHookFixture(t, { postgres });
    const { store } = program;
    const now = Date.now();
    const old = { webhook: 'old', reason: 'unreadable', count: 3, hour: now - DAY_MS - 2 * HOUR_MS } as const;
    await store.write(async (tx) => void (await tx.db.insertInto('webhook_refusals').values(old).execute()));
    assert.deepEqual(await listRefusals(store.db, now), []);
    const names = Array.from({ length: 8 }, (_, n) => `hook${n}`);
    for (let n = 0; n < 2; n += 1)
      await store.write((tx) =>
        addRefusals(
          tx,
          names.map((webhook) => ({ webhook, reason: 'unreadable', count: 2 })),
        ),
      );
    assert.equal(
      (await store.db.selectFrom('webhook_refusals').selectAll().where('webhook', '=', 'old').execute()).length,
      0,
    );
    const { detail } = await examineIngress({
      openedStore: () => store,
      clock: systemClock,
    } as Partial<Facts> as Facts);
    assert.match(
      detail,
      new RegExp(
        String.raw`^Messages of webhooks: 32 refused or taken with a fault within a day: ` +
          String.raw`hook0: 4 not readable; .*hook4: 4 not ` +
          String.raw`readable; 3 more webhooks\. `,
      ),
    );
  });
}

test('A payload whose sender left alerts out is accepted, with one more event that says so', async (t) => {
  const fixture = await openHookFixture(t);
  for (const source of ['alertmanager', 'grafana'] as const) {
    const answer = await tell(await fixture.hook(source), { ...alerts(2), truncatedAlerts: 5 });
    assert.deepEqual(
      [answer.status, answer.events.map(({ outcome }) => outcome)],
      [202, ['ignored', 'ignored', 'error']],
    );
  }
  assert.deepEqual(
    (await fixture.events()).filter(({ outcome }) => outcome === 'error').map(({ reason }) => reason),
    Array(2).fill('The sender left 5 alerts out of this message (max_alerts).'),
  );
  await until('the doctor counts both', async () =>
    (await doctor(fixture)).startsWith('warn Messages of webhooks: 2 refused or taken with a fault within a day: ')
      ? true
      : undefined,
  );
  assert.match(await doctor(fixture), /taken without alerts that the sender left out \(max_alerts\)/);
});
