import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import type { PageMessage } from '../../src/domain/page.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/id.ts';
import { openDial, SendFailed } from '../../src/push/dial-guard.ts';
import type { EndpointTarget } from '../../src/push/endpoint.ts';
import { post } from '../../src/push/post.ts';
import { deleteEndpoint, insertEndpoint } from '../../src/store/notify.ts';
import { requestPage } from '../../src/store/pages.ts';
import type { Store } from '../../src/store/store.ts';
import { type Loop, startLoop } from '../../src/daemon/loop.ts';
import { Pager, type PageDeps } from '../../src/daemon/page.ts';
import { gate } from '../support/approval-maker.ts';
import { addDaemon, ENGINES, type EngineUnderTest } from './kit.ts';

/** A server that treats each connection in its own way; answers its URL. */
async function serve(t: TestContext, converse: (socket: Socket) => void, scheme = 'http'): Promise<string> {
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => undefined);
    converse(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `${scheme}://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

const saying = (head: string) => (socket: Socket) => void socket.once('data', () => socket.end(`HTTP/1.1 ${head}\r\ncontent-length: 0\r\n\r\n`));

function dripping(socket: Socket): void {
  const timer = setInterval(() => socket.write('a'), 1_000);
  socket.on('close', () => clearInterval(timer));
}

function endless(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\n');
  const more = (): void => {
    while (!socket.destroyed && socket.write(`x-more: ${'y'.repeat(1_000)}\r\n`));
  };
  socket.on('drain', more);
  more();
}

/** One daemon's part in pages. */
interface Daemon {
  readonly id: string;
  readonly store: Store;
  readonly pager: Pager;
  /** Ends its loop, and waits for what it has under way. */
  stop(): Promise<void>;
}

interface Rig {
  readonly store: Store;
  readonly arrived: { readonly url: string; readonly at: number; readonly id: string }[];
  readonly endpoint: (url: string, owner?: string) => Promise<string>;
  readonly page: () => Promise<string>;
  /** Starts one more daemon on the same database, with a store of its own. */
  readonly start: () => Promise<Daemon>;
}

async function rig(t: TestContext, engine: EngineUnderTest, send?: PageDeps['sendToEndpoint'], detail: PageDeps['detail'] = 'summary'): Promise<Rig> {
  const database = await engine.create();
  const store = await database.open();
  const daemons: Daemon[] = [];
  const arrived: { url: string; at: number; id: string }[] = [];
  const throughDial = async ({ endpoint }: EndpointTarget, message: PageMessage): Promise<void> => {
    await post({ clock: systemClock, dial: openDial() }, { url: new URL(endpoint), headers: {}, body: JSON.stringify(message) });
    arrived.push({ url: endpoint, at: performance.now(), id: message.id });
  };
  t.after(async () => {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
    await database.remove();
  });
  return {
    store,
    arrived,
    async endpoint(url, owner = 'ana') {
      const id = newId('ep', Date.now());
      await store.write((tx) => insertEndpoint(tx, { id, token_id: `local:${id}`, owner, endpoint: url, label: null, p256dh: null, auth: null }));
      return id;
    },
    async page() {
      const id = newId('page', Date.now());
      await store.write((tx) => requestPage(tx, { id, topic: id, facts: { kind: 'test', by: 'ana' } }));
      return id;
    },
    async start() {
      const id = newId('dmn', Date.now());
      const own = await database.open({ daemonId: id });
      await addDaemon(own, id);
      const daemon = startPager(id, own, { sendToEndpoint: send ?? throughDial, detail });
      daemons.push(daemon);
      return daemon;
    },
  };
}

function startPager(id: string, store: Store, how: Pick<PageDeps, 'sendToEndpoint' | 'detail'>): Daemon {
  const pager = new Pager({
    ...how,
    store,
    clock: systemClock,
    self: () => id,
    transports: [],
    baseUrl: 'http://svc.test',
    services: { decisionUrl: (approval, decision, token) => `http://svc.test/approval/${approval}/${decision}?token=${token}` },
    onError: (error) => assert.fail(String(error)),
  });
  const loop: Loop = startLoop({ name: 'page', clock: systemClock, everyMs: 100, sweepOnce: (signal) => pager.sweepOnce(signal), onError: (_name, error) => assert.fail(String(error)) });
  pager.onFree(() => loop.wake());
  const stop = async (): Promise<void> => {
    await loop.stop();
    await pager.settled();
  };
  return { id, store, pager, stop };
}

async function eventually<T>(what: string, limitMs: number, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const until = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > until) assert.fail(`not in ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

for (const engine of ENGINES) {
  describe(`Pages on ${engine.name}`, () => {
    test('F19: of 100 endpoints 99 are dead in nine ways; the live one gets each page within 2 s, 404 and 410 prune, the others say what failed', async (t) => {
      const { store, arrived, endpoint, page, start } = await rig(t, engine);
      const refused = await serve(t, () => undefined);
      const kinds: readonly (readonly [reason: RegExp | null, url: string])[] = [
        [null, await serve(t, saying('404 Not Found'))],
        [null, await serve(t, saying('410 Gone'))],
        [/^answered 429$/, await serve(t, saying('429 Too Many Requests\r\nretry-after: 60'))],
        [/^answered 500$/, await serve(t, saying('500 Internal Server Error'))],
        [/^answered 507$/, await serve(t, saying('507 Insufficient Storage'))],
        [/^no answer within 5 s$/, refused],
        [/^the connection failed \(HPE_/, await serve(t, dripping)],
        [/^no connection within 3 s$|^the connection failed/, await serve(t, (socket) => void socket.resume(), 'https')],
        [/^the connection failed \((ECONNRESET|EPIPE)\)$/, await serve(t, (socket) => void socket.resetAndDestroy())],
        [/^the connection failed \(HPE_HEADER_OVERFLOW\)$/, await serve(t, endless)],
        [/^the connection failed \(ECONNREFUSED\)$/, 'http://127.0.0.1:1/'],
      ];
      const dead: [RegExp | null, string][] = [];
      for (let i = 0; i < 99; i += 1) {
        const [reason, url] = kinds[i % kinds.length]!;
        dead.push([reason, await endpoint(url)]);
      }
      const live = await serve(t, saying('200 OK'));
      await endpoint(live);
      await start();
      for (let round = 0; round < 3; round += 1) {
        const asked = performance.now();
        const id = await page();
        const { at } = await eventually('the live one gets its page', 2_000, () => arrived.find((each) => each.url === live && each.id === id));
        assert.ok(at - asked <= 2_000);
      }
      const pruned = dead.filter(([reason]) => reason === null).map(([, id]) => id);
      await eventually('every failure is on its row', 15_000, async () => {
        const rows = await store.db.selectFrom('endpoints').selectAll().execute();
        if (rows.some(({ id }) => pruned.includes(id))) return undefined;
        return rows.filter(({ failures }) => failures > 0).length === 99 - pruned.length ? true : undefined;
      });
      const rows = new Map((await store.db.selectFrom('endpoints').selectAll().execute()).map((row) => [row.id, row]));
      for (const [reason, id] of dead) if (reason !== null && !/HPE_/.test(reason.source)) assert.match(rows.get(id)?.failure ?? '', reason);
      assert.equal(rows.size, 100 - pruned.length);
    });

    test('What is never taken is tried five times, each later than the last, and then given up', async (t) => {
      const { store, endpoint, page, start } = await rig(t, engine, () => Promise.reject(new SendFailed('answered 500')));
      await endpoint('http://127.0.0.1:1/');
      const id = await page();
      await start();
      const waits: number[] = [];
      for (let attempt = 1; attempt <= 5; attempt += 1) {
        const row = await eventually(`try ${attempt}`, 3_000, async () => {
          const found = await store.db.selectFrom('deliveries').selectAll().where('page_id', '=', id).executeTakeFirst();
          return found?.attempts === attempt ? found : undefined;
        });
        if (attempt < 5) waits.push(row.next_at - Date.now());
        else assert.equal(row.state, 'dead');
        await store.write(({ db }) => db.updateTable('deliveries').set({ next_at: 0 }).where('page_id', '=', id).execute());
      }
      for (const [i, [least, most]] of [[3_000, 6_000], [22_000, 36_000], [90_000, 144_000], [330_000, 504_000]].entries()) {
        assert.ok(waits[i]! >= least! && waits[i]! <= most!, `wait ${i} is ${waits[i]} ms`);
      }
      assert.equal((await store.db.selectFrom('pages').selectAll().where('id', '=', id).executeTakeFirstOrThrow()).state, 'done');
    });

    test('An endpoint that is removed gets nothing that was on its way, and the others get theirs', async (t) => {
      const { store, arrived, endpoint, page, start } = await rig(t, engine);
      const live = await serve(t, saying('200 OK'));
      const gone = await endpoint(live);
      await endpoint(`${live}kept`);
      await page();
      await store.write((tx) => deleteEndpoint(tx, gone, `local:${gone}`));
      await start();
      await eventually('the other is told', 2_000, () => arrived.find(({ url }) => url.endsWith('kept')));
      assert.deepEqual(arrived.map(({ url }) => url), [`${live}kept`]);
    });

    test('Who is among those who asked gets the page without links; the two devices of another person share one pair', async (t) => {
      const sent = new Map<string, PageMessage>();
      const { store, endpoint, start } = await rig(t, engine, async ({ endpoint: url }, message) => void sent.set(url, message), 'full');
      await endpoint('https://asker.test/', 'ci');
      await endpoint('https://phone.test/', 'ana');
      await endpoint('https://tablet.test/', 'ana');
      await start();
      await gate(store, { planned: false, owners: ['root', 'ci'] });
      await eventually('all three are told', 3_000, () => (sent.size === 3 ? true : undefined));
      const actions = (url: string) => sent.get(url)?.actions ?? [];
      assert.deepEqual(actions('https://asker.test/'), []);
      assert.equal(actions('https://phone.test/').length, 3);
      assert.deepEqual(actions('https://phone.test/'), actions('https://tablet.test/'));
    });

    test('two daemons on one database send each page once, whoever finds it', async (t) => {
      const { store, arrived, endpoint, page, start } = await rig(t, engine);
      const phone = await serve(t, saying('200 OK'));
      for (const device of ['a', 'b', 'c']) await endpoint(`${phone}${device}`);
      await Promise.all([start(), start()]);
      const ids = await Promise.all(Array.from({ length: 30 }, () => page()));
      await eventually('all are told', 20_000, () => (arrived.length >= 90 ? true : undefined));
      await eventually('all is recorded', 10_000, async () => ((await store.db.selectFrom('deliveries').select('target').where('state', '!=', 'sent').execute()).length === 0 ? true : undefined));
      const once = new Set(arrived.map(({ id, url }) => `${id} ${url}`));
      assert.deepEqual([arrived.length, once.size, new Set(arrived.map(({ id }) => id)).size], [90, 90, ids.length]);
      assert.deepEqual([...new Set((await store.db.selectFrom('pages').select('state').execute()).map(({ state }) => state))], ['done']);
    });

    test('what a daemon that stopped had still to send is sent by the other, once', async (t) => {
      let taken = 0;
      const { store, endpoint, page, start } = await rig(t, engine, () => (taken === 0 ? Promise.reject(new SendFailed('answered 503')) : Promise.resolve()));
      await endpoint('http://127.0.0.1:1/');
      const first = await start();
      const id = await page();
      const delivery = () => store.db.selectFrom('deliveries').selectAll().where('page_id', '=', id).executeTakeFirst();
      await eventually('the first one has tried', 5_000, async () => ((await delivery())?.attempts === 1 ? true : undefined));
      await first.stop();
      taken = 1;
      await store.write(async ({ db }) => {
        await db.updateTable('daemons').set({ stopped_at: Date.now() }).where('id', '=', first.id).execute();
        await db.updateTable('deliveries').set({ next_at: 0 }).execute();
      });
      const second = await start();
      const sent = await eventually('the other one has sent it', 5_000, async () => {
        const row = await delivery();
        return row?.state === 'sent' ? row : undefined;
      });
      assert.deepEqual([sent.daemon_id, sent.attempts], [second.id, 2]);
    });
  });
}
