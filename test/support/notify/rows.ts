/** Endpoints, pages and deliveries in a store, as requests and daemons leave them. */
import { newId } from '../../../src/lib/id.ts';
import type { PushKeys } from '../../../src/push/encrypt.ts';
import { insertEndpoint } from '../../../src/store/notify/endpoints.ts';
import { requestNotification } from '../../../src/store/notify/notifications.ts';
import type { DeliveryRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';

/** Registers an endpoint of a new token. Returns its id. */
export async function insertEndpointOf(store: Store, owner: string, url: string, keys?: PushKeys): Promise<string> {
  const id = newId('ep', Date.now());
  const { p256dh = null, auth = null } = keys ?? {};
  const endpoint = { id, token_id: `local:${id}`, owner, endpoint: url, label: null, p256dh, auth };
  await store.write((tx) => insertEndpoint(tx, endpoint));
  return id;
}

/** Asks for a page; answers its id. */
export async function askForNotification(store: Store): Promise<string> {
  const id = newId('page', Date.now());
  await store.write((tx) => requestNotification(tx, { id, topic: id, facts: { kind: 'test', by: 'ana' } }));
  return id;
}

export function deliveryOf(store: Store, notificationId: string, target: string): Promise<DeliveryRow | undefined> {
  const rows = store.db.selectFrom('deliveries').selectAll();
  return rows.where('page_id', '=', notificationId).where('target', '=', target).executeTakeFirst();
}
