/**
 * The part of a daemon that sends notifications, on a separate store and with the real sender, which dials a test's
 * network.
 */
import assert from 'node:assert/strict';
import { startLoop } from '../../../src/daemon/core/loop.ts';
import { notificationLoop, Notifier } from '../../../src/daemon/notify/send.ts';
import { openTestStore } from '../store/job-store.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { guardedDial, type GuardOptions } from '../../../src/dial/guard.ts';
import type { PushKeys } from '../../../src/push/encrypt.ts';
import { sendToEndpoint } from '../../../src/push/endpoint.ts';
import type { Transport } from '../../../src/push/transport.ts';
import { vapidKeyOf } from '../../../src/push/vapid.ts';
import type { DeliveryRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { NOTIFIER_SERVICES } from './services.ts';
import { askForNotification, deliveryOf, insertEndpointOf } from './rows.ts';
import type { Ending } from '../fixtures/installation.ts';

export interface PushFixture {
  readonly store: Store;
  /** How long each send took that has ended, in milliseconds, by the URL of its endpoint. */
  readonly tookMs: Map<string, number[]>;
  /** Registers an endpoint of a new token. Returns its id. */
  readonly endpoint: (url: string, keys?: PushKeys) => Promise<string>;
  /** Asks for a page; answers its id. */
  readonly page: () => Promise<string>;
  readonly delivery: (notificationId: string, target: string) => Promise<DeliveryRow | undefined>;
}

const fail = (error: unknown): never => assert.fail(String(error));

export async function openPushFixture(
  ending: Ending,
  guard: GuardOptions,
  transports: readonly Transport[] = [],
): Promise<PushFixture> {
  const home = await openTestStore();
  const { store } = home;
  const self = await home.daemon();
  const tookMs: PushFixture['tookMs'] = new Map();
  const deps = {
    clock: systemClock,
    dial: guardedDial(guard),
    vapid: () => Promise.resolve(vapidKeyOf(Buffer.alloc(32))),
    baseUrl: 'http://svc.test',
  };
  const notifier = new Notifier({
    store,
    clock: systemClock,
    self: () => self,
    transports: () => transports,
    async sendToEndpoint(target, message) {
      const began = performance.now();
      try {
        await sendToEndpoint(deps, target, message);
      } finally {
        tookMs.set(target.endpoint, [...(tookMs.get(target.endpoint) ?? []), performance.now() - began]);
      }
    },
    detail: 'summary',
    node: () => 'vm',
    baseUrl: 'http://svc.test',
    services: NOTIFIER_SERVICES,
    onError: fail,
  });
  const loop = startLoop({
    name: 'page',
    clock: systemClock,
    everyMs: 100,
    once: notificationLoop({ notifier }).once,
    onError: (_name, error) => fail(error),
  });
  notifier.onFree(() => loop.wake());
  // The store last: what still sends records it there.
  ending.after(async () => {
    await loop.stop();
    await notifier.settled();
    await home.close();
  });
  return {
    store,
    tookMs,
    endpoint: (url, keys) => insertEndpointOf(store, 'ana', url, keys),
    async page() {
      const id = await askForNotification(store);
      loop.wake();
      return id;
    },
    delivery: (notificationId, target) => deliveryOf(store, notificationId, target),
  };
}
