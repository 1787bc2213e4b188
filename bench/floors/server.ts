import { openChild } from '../kit/child.ts';

export type ServerOrder =
  { readonly mode: 'insert'; readonly file: string } | { readonly mode: 'bytes'; readonly body: string };

/** Starts a bare node:http server in a separate process. */
export async function startFloorServer(order: ServerOrder): Promise<{ url: string; end(): Promise<void> }> {
  const child = openChild<{ url: string }>('floors/http-server.ts');
  const { url } = await child.ask(order);
  return { url, end: () => child.end() };
}
