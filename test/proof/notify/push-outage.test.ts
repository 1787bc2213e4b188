/** Name servers that fall silent, or answer that they can't: what waits for a name waits, and nothing else does. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { CONNECT_MS, TOTAL_MS } from '../../../src/dial/limits.ts';
import { type Api, until } from '../../support/api-client.ts';
import { openReceiver } from '../../support/notify/receiver.ts';
import { createAuthority } from '../../support/notify/push-authority.ts';
import { openNameServer } from '../../support/notify/push-names.ts';
import { serveTls } from '../../support/notify/push-network.ts';
import type { PreloadedNetwork } from '../../support/notify/push-preload.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { patient } from '../../support/measure/slowness.ts';
import { needs } from '../../support/tools.ts';

const PRELOAD = join(import.meta.dirname, '..', '..', 'support', 'notify', 'push-preload.ts');
const NAMED = '93.184.215.1';
const LITERAL = '93.184.215.2';
/** Names that cannot be resolved during the outage: enough of them that a delay of the others would be seen. */
const NAMES = Array.from({ length: 12 }, (_, i) => `phone${i}.push.example.com`);
const CALLS = 200;
/** The most that this part of the calls may take: a multiple of the time before, or far less than a wait for a name. */
const LIMITS = [
  { part: 0.5, times: 5, ms: patient(CONNECT_MS / 40) },
  { part: 0.99, times: 20, ms: patient(CONNECT_MS / 4) },
] as const;
/** A target of the operator that is no address. */
const TARGET_NAME = 'ntfy.example.com';

/** How long each of some calls took, one after the other, in milliseconds, the quickest first. */
async function callTimes(api: Api): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < CALLS; i += 1) {
    const began = performance.now();
    assert.equal((await api.get(i % 2 === 0 ? '/whoami' : '/jobs?limit=20')).status, 200);
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b);
}

const share = (times: readonly number[], part: number): number => times[Math.floor(times.length * part)] ?? Number.NaN;

/**
 * A busy machine makes calls slower, and some more than others; a loop that waits for name servers holds them up for
 * seconds.
 */
function assertGoesOn(t: TestContext, before: readonly number[], during: readonly number[]): void {
  for (const { part, times, ms } of LIMITS) {
    const [was, is] = [share(before, part), share(during, part)];
    const said = `${part * 100} % of the calls took ${was.toFixed(1)} ms before, ${is.toFixed(1)} ms in the outage`;
    t.diagnostic(said);
    assert.ok(is <= Math.max(times * was, ms), said);
  }
}

interface Phones {
  readonly port: number;
  /** Every piece that arrived, with the name that was asked for: none for an address. */
  readonly arrived: readonly { readonly name: string; readonly text: string }[];
}

/** The push service of all phones. */
async function servePhones(t: TestContext, authority: ReturnType<typeof createAuthority>): Promise<Phones> {
  const certificate = authority.certificate(['*.push.example.com', LITERAL]);
  const arrived: { readonly name: string; readonly text: string }[] = [];
  const port = await serveTls(
    t,
    () => certificate,
    (socket, name) => {
      socket.on('data', (chunk: Buffer) => {
        arrived.push({ name, text: chunk.toString() });
        if (chunk.includes('}')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      });
    },
  );
  return { arrived, port };
}

describe('An outage of the name servers', { skip: needs('openssl') }, () => {
  for (const outage of ['silent', 'servfail'] as const) {
    test(`F11: while name servers are ${outage}, sends to names wait, others arrive, the API answers`, async (t) => {
      const [fixture, names, target, named, authority] = [
        await openFixture(t),
        await openNameServer(t),
        await openReceiver(t),
        await openReceiver(t),
        createAuthority(t),
      ];
      const { arrived, port } = await servePhones(t, authority);
      for (const name of NAMES) names.names.set(name, [NAMED]);
      names.names.set(TARGET_NAME, ['127.0.0.1']);
      const network: PreloadedNetwork = { nameServer: names.at, ports: { [NAMED]: port, [LITERAL]: port } };
      const env = {
        SVC_NOTIFY: `ntfy+${target.url}/ops ntfy+http://${TARGET_NAME}:${named.port}/ops`,
        NODE_EXTRA_CA_CERTS: authority.caFile,
        GATEHOUSE_TEST_NETWORK: JSON.stringify(network),
      };
      const api = (await fixture.start({ nodeArgs: ['--import', PRELOAD], env })).api(fixture.token);
      for (const host of [...NAMES, LITERAL])
        assert.equal((await api.post('/notify/endpoints', { endpoint: `https://${host}/push` })).status, 200);
      const before = await callTimes(api);

      names.mode = outage;
      const job = await fixture.queue({ command: ['false'] });
      const answer = (name: string) => arrived.some((each) => each.name === name && each.text.includes(job));
      await until('the endpoint of an address and the target of the operator are notified', async () =>
        answer('') && target.pages.some(({ page }) => page.message.includes(job)) ? true : undefined,
      );
      const during = await callTimes(api);
      const began = performance.now();
      const refused = await api.post('/notify/endpoints', { endpoint: 'https://tablet.push.example.com/push' });
      assert.deepEqual([refused.status, refused.error?.code], [400, 'invalid_argument']);
      assert.match(refused.error?.message ?? '', /^endpoint: the host cannot be resolved/);
      assert.ok(performance.now() - began <= TOTAL_MS);
      const failures = await until(
        'each name has failed',
        async () => {
          const rows = await fixture.store.db
            .selectFrom('deliveries')
            .select(['attempts', 'failure', 'state'])
            .where('attempts', '>', 0)
            .where('state', '!=', 'sent')
            .execute();
          return rows.length === NAMES.length + 1 ? rows : undefined;
        },
        TOTAL_MS,
      );
      for (const { failure, state } of failures) {
        assert.equal(state, 'waiting');
        assert.match(
          failure ?? '',
          outage === 'silent'
            ? /cannot be resolved \(ETIMEOUT\)|no connection within 3s/
            : /cannot be resolved \((ESERVFAIL|ELOOKUP)\)/,
        );
      }
      assert.deepEqual([NAMES.some(answer), named.pages.length], [false, 0]);

      names.mode = 'answers';
      await until('all are notified', async () => (NAMES.every(answer) && named.pages.length > 0 ? true : undefined));
      assert.deepEqual([target.pages.length, named.pages.length], [1, 1], 'one that had its page was sent it again');
      assertGoesOn(t, before, during);
    });
  }
});
