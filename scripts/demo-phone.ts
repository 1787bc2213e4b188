/** The phone of the demo. */
import { EventEmitter, on, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';

/** Of the way that a page takes to the phone. */
const PAGE_LIMIT_MS = 20_000;

/** Of a page, what the demo looks at. */
export interface Page {
  readonly title: string;
  readonly message: string;
  readonly actions: readonly { readonly label: string; readonly url: string }[];
}

/** A receiver on loopback that pages are posted to. */
export interface Phone {
  readonly url: string;
  /** The next page; waits for it. */
  next(): Promise<Page>;
  close(): void;
}

export async function openPhone(): Promise<Phone> {
  const heard = new EventEmitter();
  const pages = on(heard, 'page');
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    heard.emit('page', JSON.parse(await textOf(request)));
    response.end();
  };
  const server = createServer((request, response) => void take(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const next = async (): Promise<Page> => {
    const late = new Promise<never>((_resolve, reject) => {
      AbortSignal.timeout(PAGE_LIMIT_MS).addEventListener('abort', () => reject(new Error('no page came in 20 s')));
    });
    const { value } = (await Promise.race([pages.next(), late])) as { value: [Page] };
    return value[0];
  };
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/pages`, next, close };
}
