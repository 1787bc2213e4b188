/** The phone of the demo. */
import { EventEmitter, on, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { within } from './demo-wait.ts';

/** Of the way that a notification takes to the phone. */
const NOTIFICATION_LIMIT_MS = 20_000;

/** Of a notification, what the demo looks at. */
export interface Notification {
  readonly title: string;
  readonly message: string;
  readonly actions: readonly { readonly label: string; readonly url: string }[];
}

/** A receiver on loopback that notifications are posted to. */
export interface Phone {
  readonly url: string;
  /** Waits for the next notification; `what` names it in the error when none comes. */
  next(what: string): Promise<Notification>;
  close(): void;
}

export async function openPhone(): Promise<Phone> {
  const received = new EventEmitter();
  const notifications = on(received, 'notification');
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      received.emit('notification', JSON.parse(await textOf(request)));
    } catch {
      // Not a notification, or cut off: the sender tries again.
      response.statusCode = 400;
    }
    response.end();
  };
  const server = createServer((request, response) => void take(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const next = async (what: string): Promise<Notification> => {
    const { value } = (await within(notifications.next(), NOTIFICATION_LIMIT_MS, `the notification of ${what}`)) as {
      value: [Notification];
    };
    return value[0];
  };
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/pages`, next, close };
}
