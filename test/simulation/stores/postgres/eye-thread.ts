/** Answers the questions of an Eye, one at a time. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { Client, TypeOverrides, types as builtin } from 'pg';

export interface EyeOrder {
  readonly url: string;
  /** Null ends the connection. */
  readonly sql: string | null;
  readonly values: readonly unknown[];
}

export type EyeReply = { readonly rows: readonly Readonly<Record<string, unknown>>[] } | { readonly error: string };

const { port, turns } = workerData as { readonly port: MessagePort; readonly turns: Int32Array };
const clients = new Map<string, Client>();
const types = new TypeOverrides();
types.setTypeParser(builtin.builtins.INT8, Number);

async function reply({ url, sql, values }: EyeOrder): Promise<EyeReply> {
  try {
    let client = clients.get(url);
    if (sql === null) {
      clients.delete(url);
      await client?.end();
      return { rows: [] };
    }
    if (client === undefined) {
      client = new Client({ connectionString: url, types });
      client.on('error', () => clients.delete(url));
      await client.connect();
      clients.set(url, client);
    }
    const { rows } = await client.query<Record<string, unknown>>(sql, [...values]);
    return { rows };
  } catch (error) {
    return { error: String(error) };
  }
}

async function serve(order: EyeOrder): Promise<void> {
  port.postMessage(await reply(order));
  Atomics.add(turns, 0, 1);
  Atomics.notify(turns, 0);
}

port.on('message', (order: EyeOrder) => void serve(order));
