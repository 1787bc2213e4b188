/**
 * What distributors do to those who push to them, over real TLS: each is recorded, none takes longer than a send may.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Socket } from 'node:net';
import { examineNotifications } from '../../../src/doctor/notify/notifications.ts';
import type { Facts } from '../../../src/doctor/entry.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { GuardOptions } from '../../../src/dial/guard.ts';
import { TOTAL_MS } from '../../../src/dial/limits.ts';
import { until } from '../../support/api-client.ts';
import { type Authority, createAuthority } from '../../support/notify/push-authority.ts';
import { closedPort, createNetwork, serveTcp, serveTls } from '../../support/notify/push-network.ts';
import { openPushFixture } from '../../support/notify/push-fixture.ts';
import type { Ending } from '../../support/fixtures/installation.ts';
import { patient } from '../../support/measure/slowness.ts';
import { needs } from '../../support/tools.ts';

type Converse = (socket: Socket) => void;

/** Reads the request, then answers it. */
const answering =
  (head: string, body = ''): Converse =>
  (socket) =>
    void socket.once('data', () => socket.end(`HTTP/1.1 ${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`));

/** Says `first` at once and then `more` for ever: a character a second, or as much as is taken. */
const going =
  (first: string, more: string, everyMs: number | null): Converse =>
  (socket) => {
    socket.write(first);
    if (everyMs === null) {
      const fill = (): void => {
        while (!socket.destroyed && socket.write(more));
      };
      socket.on('drain', fill);
      return fill();
    }
    let at = 0;
    const timer = setInterval(() => void socket.write(more[at++ % more.length] ?? ''), everyMs);
    socket.on('close', () => clearInterval(timer));
  };

interface Fault {
  readonly name: string;
  /** What is recorded; null where the message counts as taken. */
  readonly result: RegExp | null;
  /** `gone`: its row is removed. `refused`: not tried again. `slow`: it takes seconds, so it is tried once here. */
  readonly is?: 'gone' | 'refused' | 'slow';
  readonly converse: Converse;
}

const OK = 'HTTP/1.1 200 OK\r\n';

const FAULTS: readonly Fault[] = [
  { name: '404', result: null, is: 'gone', converse: answering('404 Not Found') },
  { name: '410', result: null, is: 'gone', converse: answering('410 Gone') },
  { name: '403', result: /^answered 403$/, is: 'refused', converse: answering('403 Forbidden') },
  { name: '413', result: /^answered 413$/, is: 'refused', converse: answering('413 Content Too Large') },
  { name: '429', result: /^answered 429$/, converse: answering('429 Too Many Requests\r\nretry-after: 300') },
  { name: '500', result: /^answered 500$/, converse: answering('500 Internal Server Error') },
  { name: '507', result: /^answered 507$/, converse: answering('507 Insufficient Storage') },
  {
    name: 'redirect',
    result: /^answered 302: redirects are not followed$/,
    converse: answering('302 Found\r\nlocation: https://live.push.example.com/push'),
  },
  { name: 'no-http', result: /^the connection failed \(HPE_/, converse: answering('what is this\r\n\r\n') },
  {
    name: 'reset',
    result: /^the connection failed \((ECONNRESET|EPIPE)\)$/,
    converse: (socket) => void socket.once('data', () => socket.destroy()),
  },
  {
    name: 'endless-head',
    result: /^the connection failed \(HPE_HEADER_OVERFLOW\)$/,
    converse: going(OK, `x-more: ${'y'.repeat(1_000)}\r\n`, null),
  },
  {
    name: 'endless-body-500',
    result: /^answered 500$/,
    converse: going('HTTP/1.1 500 Oh\r\n\r\n', 'z'.repeat(1_000), null),
  },
  { name: 'silent', result: /^no answer within 5s$/, is: 'slow', converse: (socket) => void socket.resume() },
  {
    name: 'slow-head',
    result: /^no answer within 5s$/,
    is: 'slow',
    converse: going('', `${OK}content-length: 0\r\n\r\n`, 1_000),
  },
  {
    name: 'endless-hints',
    result: /^no answer within 5s$/,
    is: 'slow',
    converse: going('', 'HTTP/1.1 103 Early Hints\r\n\r\n', 5),
  },
  { name: 'slow-body', result: null, converse: going(`${OK}content-length: 100\r\n\r\n`, 'b', 1_000) },
  { name: 'endless-body', result: null, converse: going(`${OK}\r\n`, 'b'.repeat(1_000), null) },
  { name: 'live', result: null, converse: answering('200 OK') },
];

/** Those where it does not come to a request; `placed` says where they stand. */
const NO_CONNECTION: readonly Pick<Fault, 'name' | 'result' | 'is'>[] = [
  {
    name: 'unknown-authority',
    result: /^the connection failed \((UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY)\)$/,
  },
  { name: 'wrong-name', result: /^the connection failed \(ERR_TLS_CERT_ALTNAME_INVALID\)$/ },
  { name: 'expired', result: /^the connection failed \(CERT_HAS_EXPIRED\)$/ },
  {
    name: 'reset-at-once',
    result: /^the connection failed \((ECONNRESET|EPIPE)\)$|^the connection was closed before it was ready$/,
  },
  { name: 'not-tls', result: /^the connection failed \(ERR_SSL_/ },
  { name: 'refusing', result: /^the connection failed \(ECONNREFUSED\)$/ },
  { name: 'nameless', result: /^the host cannot be resolved \(ENOTFOUND\)$/ },
  { name: 'silent-tcp', result: /^no connection within 3s$/, is: 'slow' },
  { name: 'slow-tls', result: /^no connection within 3s$/, is: 'slow' },
];

const hostOf = (name: string): string => `${name}.push.example.com`;

/** One listener for all that speak TLS, and one each for those that do not; all placed in the network. */
async function place(t: Ending, authority: Authority): Promise<{ guard: GuardOptions; urls: Map<string, string> }> {
  const [network, stranger] = [createNetwork(), createAuthority(t)];
  const own = authority.certificate(['*.push.example.com']);
  const special = new Map([
    [hostOf('unknown-authority'), stranger.certificate(['*.push.example.com'])],
    [hostOf('wrong-name'), authority.certificate(['push.example.org'])],
    [hostOf('expired'), authority.certificate(['*.push.example.com'], { expired: true })],
  ]);
  const converses = new Map(FAULTS.map(({ name, converse }) => [hostOf(name), converse]));
  const tls = await serveTls(
    t,
    (name) => special.get(name) ?? own,
    (socket, name) => converses.get(name)?.(socket),
  );
  const ports = new Map([
    ['reset-at-once', await serveTcp(t, (socket) => void socket.resetAndDestroy())],
    ['not-tls', await serveTcp(t, answering('200 OK'))],
    ['refusing', await closedPort()],
    ['silent-tcp', await serveTcp(t, (socket) => void socket.resume())],
    ['slow-tls', await serveTcp(t, going('', '\u0016\u0003\u0003\u0000\u007a', 1_000))],
  ]);
  const names = [...FAULTS, ...NO_CONNECTION].map(({ name }) => name);
  const urls = new Map(
    names.map((name) => [
      name,
      name === 'nameless' ? `https://${hostOf(name)}/push` : network.place(hostOf(name), ports.get(name) ?? tls),
    ]),
  );
  return { guard: { ...network, tls: { ca: [authority.ca] } }, urls };
}

describe('A distributor', { skip: needs('openssl') }, () => {
  test('F19: over TLS each of 26 bad answers is on its row in time, 404 and 410 prune, the tries end', async (t) => {
    const { guard, urls } = await place(t, createAuthority(t));
    const { store, tookMs, endpoint, page, delivery } = await openPushFixture(t, guard);
    const all = [...FAULTS, ...NO_CONNECTION];
    assert.equal(all.length, 26 + 1);
    const ids = new Map<string, string>();
    for (const { name } of all) ids.set(name, await endpoint(urls.get(name)!));
    const began = Date.now();
    const id = await page();
    const settled = (name: string, limitMs?: number) =>
      until(
        `${name} was tried`,
        async () => {
          const row = await delivery(id, ids.get(name)!);
          return row !== undefined && (row.attempts > 0 || row.state !== 'waiting') ? row : undefined;
        },
        limitMs,
      );
    assert.equal((await settled('live')).state, 'sent');
    for (const { name, result, is } of all) {
      const { state, failure, attempts, next_at } = await settled(name);
      const row = await store.db
        .selectFrom('endpoints')
        .selectAll()
        .where('id', '=', ids.get(name)!)
        .executeTakeFirst();
      if (is === 'gone')
        assert.deepEqual([state, row, failure, attempts], ['gone', undefined, `answered ${name}`, 1], name);
      else if (result === null) assert.deepEqual([state, row?.failures, row?.failure], ['sent', 0, null], name);
      else {
        assert.match(failure ?? '', result, name);
        assert.match(row?.failure ?? '', result, name);
        // Those that fail at once may have been tried a second time by now.
        assert.ok(attempts >= 1 && (row?.failures ?? 0) >= 1, name);
        assert.equal(state, is === 'refused' ? 'dead' : 'waiting', name);
      }
      if (name === '429') assert.ok(next_at >= began + 300_000, 'a target that asks for five minutes gets them');
    }
    // On a slow machine a timer fires late.
    for (const [url, times] of tookMs)
      assert.ok(Math.max(...times) <= patient(TOTAL_MS), `${url}: ${Math.max(...times)} ms`);
    assert.equal(tookMs.size, all.length);

    // The rest of the tries, without waiting for their times.
    const again = all.filter(({ result, is }) => result !== null && is === undefined).map(({ name }) => ids.get(name)!);
    await until('all tries are over', async () => {
      await store.write(({ db }) =>
        db
          .updateTable('deliveries')
          .set({ next_at: 0 })
          .where('target', 'in', again)
          .where('state', '=', 'waiting')
          .execute(),
      );
      const rows = await Promise.all(again.map((target) => delivery(id, target)));
      return rows.every((row) => row?.state === 'dead' && row.attempts === 5) ? true : undefined;
    });
    const result = await examineNotifications({
      openedStore: () => store,
      clock: systemClock,
      targets: () => null,
    } as unknown as Facts);
    assert.equal(result.status, 'warn');
    assert.match(
      result.detail,
      new RegExp(`\\. ${again.length + 2} failed within a day; the last with: (answered|the connection|the host)`),
    );
  });
});
