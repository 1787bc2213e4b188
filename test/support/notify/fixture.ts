/** Daemons that send notifications, on each database: endpoints with a given behaviour, and what arrived at them. */
import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { type Loop, startLoop } from '../../../src/daemon/core/loop.ts';
import { notificationLoop, Notifier, type NotifierDeps } from '../../../src/daemon/notify/send.ts';
import type { NotificationMessage } from '../../../src/domain/notify/row.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { openDial } from '../../../src/dial/guard.ts';
import type { EndpointTarget } from '../../../src/push/endpoint.ts';
import { post } from '../../../src/push/post.ts';
import type { Transport } from '../../../src/push/transport.ts';
import { retarget } from '../../../src/store/notify/targets.ts';
import type { DeliveryRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { insertToken } from '../../../src/store/access/tokens.ts';
import { NOTIFIER_SERVICES } from './services.ts';
import { askForNotification, deliveryOf, insertEndpointOf } from './rows.ts';
import { addDaemon, type EngineUnderTest, makeToken } from '../../store/engine-fixture.ts';
import type { Ending } from '../fixtures/installation.ts';

/** A server that treats each connection in its own way; answers its URL. */
export async function serve(ending: Ending, converse: (socket: Socket) => void, scheme = 'http'): Promise<string> {
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => undefined);
    converse(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ending.after(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `${scheme}://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

export const saying = (head: string) => (socket: Socket) =>
  void socket.once('data', () => socket.end(`HTTP/1.1 ${head}\r\ncontent-length: 0\r\n\r\n`));

/**
 * A clock whose timers wait until they are let go, and then fire in the order of their times; later ones are as always.
 */
export function heldClock(): { readonly clock: Clock; readonly letGo: () => void } {
  const held = new Map<() => void, number>();
  let isHeld = true;
  const after: Clock['after'] = (ms, fire) => {
    if (!isHeld) return systemClock.after(ms, fire);
    held.set(fire, ms);
    return () => void held.delete(fire);
  };
  const letGo = (): void => {
    isHeld = false;
    for (const [fire] of [...held].toSorted(([, a], [, b]) => a - b)) if (held.delete(fire)) fire();
  };
  return { clock: { ...systemClock, after }, letGo };
}

/** One daemon's part in pages. */
export interface PagingDaemon {
  readonly id: string;
  readonly store: Store;
  /** Ends its loop, and waits for what it has under way. */
  stop(): Promise<void>;
}

export interface NotifyFixture {
  readonly store: Store;
  readonly arrived: { readonly url: string; readonly id: string }[];
  /** What daemons reported, where the test takes it instead of failing. */
  readonly errors: unknown[];
  readonly endpoint: (url: string, owner?: string) => Promise<string>;
  readonly page: () => Promise<string>;
  readonly delivery: (notificationId: string, target: string) => Promise<DeliveryRow | undefined>;
  readonly stateOfNotification: (notificationId: string) => Promise<string | undefined>;
  /** Starts one more daemon on the same database, with a separate store. */
  readonly start: (transports?: readonly Transport[]) => Promise<PagingDaemon>;
}

export interface NotifyFixtureOptions {
  readonly send?: NotifierDeps['sendToEndpoint'];
  readonly detail?: NotifierDeps['detail'];
  /** Of the daemons' passes. */
  readonly clock?: Clock;
  /** Of the sends' times. */
  readonly sendClock?: Clock;
  /** What the daemons have in place of their stores. */
  readonly storeOf?: (store: Store) => Store;
  /** Errors are collected and the test looks at them. */
  readonly mayFail?: boolean;
}

export async function openNotifyFixture(
  ending: Ending,
  engine: EngineUnderTest,
  options: NotifyFixtureOptions = {},
): Promise<NotifyFixture> {
  const database = await engine.create();
  const store = await database.open();
  const daemons: PagingDaemon[] = [];
  const arrived: { url: string; id: string }[] = [];
  const errors: unknown[] = [];
  const owners = new Set<string>();
  const { sendClock = systemClock } = options;
  const throughDial = async ({ endpoint }: EndpointTarget, message: NotificationMessage): Promise<void> => {
    await post(
      { clock: sendClock, dial: openDial() },
      { url: new URL(endpoint), headers: {}, body: JSON.stringify(message) },
    );
    arrived.push({ url: endpoint, id: message.id });
  };
  ending.after(async () => {
    // Each of them, whatever became of another: a store that closes first would fail who still looks into it.
    const stopped = await Promise.allSettled(daemons.map((daemon) => daemon.stop()));
    await database.remove();
    for (const each of stopped) if (each.status === 'rejected') throw each.reason;
    if (options.mayFail !== true) assert.deepEqual(errors, []);
  });
  return {
    store,
    arrived,
    errors,
    async endpoint(url, owner = 'ana') {
      // With a token that may decide, or its pages would have no links.
      if (!owners.has(owner))
        await store.write((tx) => insertToken(tx, makeToken({ name: owner, owner, scope: 'approve' })));
      owners.add(owner);
      return insertEndpointOf(store, owner, url);
    },
    page: () => askForNotification(store),
    delivery: (notificationId, target) => deliveryOf(store, notificationId, target),
    stateOfNotification: async (notificationId) =>
      (await store.db.selectFrom('pages').select('state').where('id', '=', notificationId).executeTakeFirst())?.state,
    async start(transports = []) {
      const id = newId('dmn', Date.now());
      const own = await database.open({ daemonId: id });
      await addDaemon(own, id);
      await own.write((tx) => retarget(tx, id, transports));
      const daemon = startNotifier(id, (options.storeOf ?? ((same) => same))(own), {
        throughDial,
        errors,
        transports,
        ...options,
      });
      daemons.push(daemon);
      return daemon;
    },
  };
}

interface Parts extends NotifyFixtureOptions {
  readonly transports: readonly Transport[];
  readonly throughDial: NotifierDeps['sendToEndpoint'];
  readonly errors: unknown[];
}

function startNotifier(
  id: string,
  store: Store,
  { send, detail = 'summary', clock = systemClock, throughDial, errors, transports }: Parts,
): PagingDaemon {
  const notifier = new Notifier({
    store,
    clock,
    self: () => id,
    transports: () => transports,
    sendToEndpoint: send ?? throughDial,
    detail,
    node: () => 'vm',
    baseUrl: 'http://svc.test',
    services: NOTIFIER_SERVICES,
    onError: (error) => void errors.push(error),
  });
  const loop: Loop = startLoop({
    name: 'page',
    clock,
    everyMs: 100,
    once: notificationLoop({ notifier }).once,
    onError: (_name, error) => void errors.push(error),
  });
  notifier.onFree(() => loop.wake());
  const stop = async (): Promise<void> => {
    await loop.stop();
    await notifier.settled();
  };
  return { id, store, stop };
}
