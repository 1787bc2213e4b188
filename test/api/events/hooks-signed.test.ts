/** T58: Webhooks whose messages are signed, on both databases. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import type { WebhookSource } from '../../../src/domain/events/event.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { resealAll } from '../../../src/store/secrets/reseal.ts';
import type { Store } from '../../../src/store/store.ts';
import { takeSignature } from '../../../src/store/events/webhook-signing.ts';
import { createIngressFace } from '../../../src/faces/ingress/face.ts';
import { type HookFixture, openHookFixture, tell, type Received } from '../../support/fixtures/hooks.ts';
import { noteWork } from '../../support/statements.ts';

interface SignedHook {
  readonly url: string;
  readonly secret: string;
}

interface Made {
  readonly url: string;
  readonly signing_secret: string | null;
}

const BODY = '{"name":"DiskFull","status":"firing"}';
const TOLERANCE_S = 300;

async function signedHook(
  fixture: HookFixture,
  source: WebhookSource = 'generic',
  name: string = source,
): Promise<SignedHook> {
  const { url, signing_secret: secret } = await fixture.call<Made>('webhook.add', { name, source, signed: true });
  return { url, secret: secret ?? assert.fail('no secret was shown') };
}

function seconds(fixture: HookFixture, aside = 0): number {
  return Math.floor(fixture.program.services.clock.now() / 1_000) + aside;
}

/** As the documentation describes it, written independently of the code. */
function sign(secret: string, at: number, body: string): Record<string, string> {
  return {
    'X-Gatehouse-Signature': `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`,
  };
}

function signAsGrafana(secret: string, at: number, body: string): Record<string, string> {
  const signature = createHmac('sha256', secret).update(`${at}:${body}`).digest('hex');
  return { 'X-Grafana-Alerting-Signature': signature, 'X-Grafana-Alerting-Timestamp': String(at) };
}

function codeOf({ text }: Received): string {
  return (JSON.parse(text) as { error: { code: string } }).error.code;
}

for (const postgres of [false, true]) {
  describe(`T58: On ${postgres ? 'PostgreSQL' : 'SQLite'} a webhook of signed messages`, () => {
    test('takes a message that is signed, once, also where the repeat comes in by another daemon', async (t) => {
      const fixture = await openHookFixture(t, { postgres });
      const { url, secret } = await signedHook(fixture);
      const headers = sign(secret, seconds(fixture), BODY);
      const log = { error: () => undefined };
      const second = createIngressFace({ runtime: fixture.program, log });
      t.after(() => second.close(0));
      const { url: other } = await second.listen({ host: '127.0.0.1', port: 0 });
      assert.equal((await tell(url, BODY, { headers })).status, 202);
      // Not even as heard: a repeat must not keep a dead-man watch quiet.
      const heard = fixture.program.store.db.selectFrom('webhooks').select('last_heard_at');
      await fixture.program.store.write((tx) => tx.db.updateTable('webhooks').set({ last_heard_at: 1 }).execute());
      for (const again of [url, `${other}${new URL(url).pathname}`]) {
        const answer = await tell(again, BODY, { headers });
        assert.deepEqual([answer.status, codeOf(answer)], [409, 'conflict']);
      }
      await fixture.program.store.write(() => Promise.resolve());
      assert.deepEqual(
        (await heard.execute()).map((row) => row.last_heard_at),
        [1],
      );
      assert.equal((await tell(url, BODY, { headers: sign(secret, seconds(fixture, 1), BODY) })).status, 202);
      assert.equal((await fixture.events()).length, 2);
    });

    test('accepts a message that is sent again after the store failed, and counts as silent until then', async (t) => {
      let refuses = true;
      // Only the write that answers with what became of events.
      const wrapStore = (store: Store): Store => ({
        ...store,
        db: store.db,
        write: (work, options) =>
          store.write(async (tx) => {
            const written = await work(tx);
            if (refuses && Array.isArray(written))
              throw new Failure('unavailable', 'The disk of the store is full: nothing was written.');
            return written;
          }, options),
      });
      const fixture = await openHookFixture(t, { postgres, wrapStore });
      const { url, secret } = await signedHook(fixture);
      const headers = sign(secret, seconds(fixture), BODY);
      const heard = async () => {
        await fixture.program.store.write(() => Promise.resolve());
        return (await fixture.program.store.db.selectFrom('webhooks').select('last_heard_at').executeTakeFirstOrThrow())
          .last_heard_at;
      };
      assert.deepEqual([(await tell(url, BODY, { headers })).status, await heard()], [503, null]);
      refuses = false;
      assert.deepEqual([(await tell(url, BODY, { headers })).status, (await fixture.events()).length], [202, 1]);
      assert.notEqual(await heard(), null);
    });

    test('takes one of many equal ones that come at once', async (t) => {
      const fixture = await openHookFixture(t, { postgres });
      const { url, secret } = await signedHook(fixture);
      const headers = sign(secret, seconds(fixture), BODY);
      const answer = await Promise.all(Array.from({ length: 12 }, () => tell(url, BODY, { headers })));
      assert.deepEqual(
        answer.map(({ status }) => status).toSorted((a, b) => a - b),
        [202, ...Array.from({ length: 11 }, () => 409)],
      );
      assert.equal((await fixture.events()).length, 1);
    });

    test('drops old signatures, keeps a bounded number, and deletes all of them when it is removed', async (t) => {
      const fixture = await openHookFixture(t, { postgres });
      const { store } = fixture.program;
      await signedHook(fixture);
      const note = (signature: string, signedAt: number) =>
        store.write((tx) =>
          takeSignature(tx, { webhook: 'generic', signature, message: signature, signed_at: signedAt }, 2),
        );
      const noted = async () =>
        (await store.db.selectFrom('webhook_signatures').select('signature').orderBy('signature').execute()).map(
          ({ signature }) => signature,
        );
      const now = fixture.program.services.clock.now();
      await note('a', now - 599_000);
      await note('b', now - 601_000);
      await note('c', now);
      assert.deepEqual(await noted(), ['a', 'c']);
      await assert.rejects(note('d', now), { code: 'unavailable' });
      assert.deepEqual(await noted(), ['a', 'c']);
      await fixture.call('webhook.remove', { name: 'generic' });
      assert.deepEqual([await noted(), await store.db.selectFrom('webhook_keys').selectAll().execute()], [[], []]);
    });
  });
}

describe('T58: A webhook of signed messages', () => {
  test('refuses a message with another signature, time or body with 401, and stores nothing of it', async (t) => {
    const at = Math.floor(Date.now() / 1_000);
    const fixture = await openHookFixture(t, { stoppedAt: at * 1_000 });
    const { url, secret } = await signedHook(fixture);
    const good = sign(secret, at, BODY)['X-Gatehouse-Signature']!;
    const flipped = (bit: number): string => {
      const bytes = Buffer.from(BODY);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      return bytes.toString('latin1');
    };
    const bodies = [...Array.from({ length: 8 }, (_, n) => flipped(n * 33)), `${BODY} `, BODY.slice(1), ''];
    for (const body of bodies)
      assert.equal((await tell(url, body, { headers: { 'X-Gatehouse-Signature': good } })).status, 401, body);
    const other = sign(`${secret}x`, at, BODY)['X-Gatehouse-Signature']!;
    const claims = [
      other,
      good.replace(`t=${at}`, `t=${at + 1}`),
      good.toUpperCase(),
      `${good},v1=0`,
      good.slice(0, -1),
      good.replace(/v1=./, 'v1=g'),
      '',
      't=,v1=',
      good.split(',')[1]!,
    ];
    for (const claim of claims) {
      const answer = await tell(url, BODY, { headers: { 'X-Gatehouse-Signature': claim } });
      assert.deepEqual([answer.status, codeOf(answer)], [401, 'unauthenticated'], claim);
    }
    assert.equal((await tell(url, BODY)).status, 401);
    assert.equal((await tell(url, '{', { headers: { 'content-encoding': 'gzip' } })).status, 400);
    assert.equal(
      (await tell(url, BODY, { headers: signAsGrafana(secret, at, BODY) })).status,
      401,
      'the form of Grafana at a generic one',
    );
    for (const aside of [-TOLERANCE_S - 1, TOLERANCE_S + 1])
      assert.equal((await tell(url, BODY, { headers: sign(secret, at + aside, BODY) })).status, 401, `${aside} s`);
    assert.deepEqual(await fixture.events(), []);
    const [hook] = await fixture.call<{ last_heard_at: string | null }[]>('webhook.list', {});
    assert.equal(hook?.last_heard_at, null, 'a dead-man watch does not take it for heard');
    for (const aside of [-TOLERANCE_S, TOLERANCE_S])
      assert.equal((await tell(url, BODY, { headers: sign(secret, at + aside, BODY) })).status, 202, `${aside} s`);
  });

  test('reads nothing that is not signed: a query beside the body is left alone', async (t) => {
    const fixture = await openHookFixture(t);
    const { url, secret } = await signedHook(fixture);
    const answer = await tell(`${url}?name=canary`, undefined, {
      method: 'GET',
      headers: sign(secret, seconds(fixture), ''),
    });
    assert.equal(answer.status, 400);
    assert.equal(
      (await tell(`${url}?severity=canary`, BODY, { headers: sign(secret, seconds(fixture), BODY) })).status,
      202,
    );
    assert.ok(!JSON.stringify(await fixture.events()).includes('canary'));
  });

  test('records a signed message that cannot be read in the ledger once', async (t) => {
    const fixture = await openHookFixture(t);
    const { url, secret } = await signedHook(fixture);
    const headers = sign(secret, seconds(fixture), '{');
    assert.deepEqual(
      [(await tell(url, '{', { headers })).status, (await tell(url, '{', { headers })).status],
      [400, 409],
    );
    assert.deepEqual(
      (await fixture.events()).map(({ outcome }) => outcome),
      ['error'],
    );
  });

  test('looks for old signatures once for each message, and not at all for a repeat', async (t) => {
    const fixture = await openHookFixture(t);
    const { url, secret } = await signedHook(fixture, 'alertmanager');
    const body = JSON.stringify({ alerts: [{ status: 'firing', labels: { alertname: 'A' } }, 'poison'] });
    const headers = sign(secret, seconds(fixture), body);
    const { statements } = noteWork(t);
    const looks = (): number => statements.filter((sql) => sql.startsWith('delete from "webhook_signatures"')).length;
    const first = await tell(url, body, { headers });
    assert.deepEqual([first.status, first.events.length, looks()], [202, 2, 1]);
    assert.deepEqual([(await tell(url, body, { headers })).status, looks()], [409, 1]);
  });

  test('accepts a signature of Grafana, and only with a time in it', async (t) => {
    const fixture = await openHookFixture(t);
    const { url, secret } = await signedHook(fixture, 'grafana');
    const body = JSON.stringify({ orgId: 1, version: '1', alerts: [{ status: 'firing', labels: { alertname: 'A' } }] });
    const headers = signAsGrafana(secret, seconds(fixture), body);
    assert.equal((await tell(url, body, { headers })).status, 202);
    assert.equal((await tell(url, body, { headers })).status, 409);
    const bare = { 'X-Grafana-Alerting-Signature': createHmac('sha256', secret).update(body).digest('hex') };
    const answer = await tell(url, body, { headers: bare });
    assert.deepEqual(
      [answer.status, answer.text.includes('X-Grafana-Alerting-Timestamp: expected Unix seconds')],
      [401, true],
    );
    assert.equal((await tell(url, `${body} `, { headers })).status, 401);
    assert.equal((await fixture.events()).length, 1);
  });

  test('shows its secret once, keeps it sealed, and a rotation seals it again', async (t) => {
    const fixture = await openHookFixture(t);
    const { store, services } = fixture.program;
    const { url, secret } = await signedHook(fixture);
    assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
    const tables = await Promise.all(
      (['webhooks', 'webhook_keys', 'ledger', 'idempotency'] as const).map((table) =>
        store.db.selectFrom(table).selectAll().execute(),
      ),
    );
    assert.ok(!JSON.stringify([tables, await fixture.call('webhook.list', {})]).includes(secret));
    assert.ok(!tables[1]!.some((row) => 'sealed' in row && Buffer.from(row.sealed).includes(secret)));
    const before = (await services.keyring()).activeId;
    const ring = await services.seal.rotate();
    assert.deepEqual(await resealAll(store, ring, { principal: 'ops', owner: 'ops', via: 'cli' }), {
      count: 1,
      broken: [],
    });
    const [key] = await store.db.selectFrom('webhook_keys').selectAll().execute();
    assert.ok(key?.key_id === ring.activeId && ring.activeId !== before);
    assert.equal((await tell(url, BODY, { headers: sign(secret, seconds(fixture), BODY) })).status, 202);
  });

  test('is 503 while its secret cannot be opened, so that its sender retries', async (t) => {
    const fixture = await openHookFixture(t);
    const { url, secret } = await signedHook(fixture);
    await fixture.program.store.write((tx) =>
      tx.db
        .updateTable('webhook_keys')
        .set({ webhook: 'generic', sealed: Buffer.from('GHS1 and nothing more') })
        .execute(),
    );
    assert.equal((await tell(url, BODY, { headers: sign(secret, seconds(fixture), BODY) })).status, 503);
    assert.deepEqual(await fixture.events(), []);
  });
});

test('A webhook of unsigned messages takes them whatever their headers say, without another look-up', async (t) => {
  const fixture = await openHookFixture(t);
  const url = await fixture.hook('generic');
  const { statements } = noteWork(t);
  assert.equal((await tell(url, BODY, { headers: { 'X-Gatehouse-Signature': 't=1,v1=00' } })).status, 202);
  assert.equal((await tell(url, BODY)).status, 202);
  assert.ok(
    statements.some((sql) => sql.includes('events')) &&
      !statements.some((sql) => /webhook_(keys|signatures)/.test(sql)),
  );
  assert.equal((await fixture.events()).length, 2);
});
