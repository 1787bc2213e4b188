/** The ingress listener on port 0 beside a program, with webhooks that were made as an operator makes them. */
import assert from 'node:assert/strict';
import { localCaller } from '../../src/domain/caller.ts';
import type { EventOutcome, WebhookSource } from '../../src/domain/event.ts';
import type { HookLimits } from '../../src/faces/ingress/hook-routes.ts';
import { createIngressFace, type IngressFaceOptions } from '../../src/faces/ingress/face.ts';
import { invoke, type Home } from '../../src/operations/invoke.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import type { EventRow } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';
import { type Ending, type Program, type ProgramOptions, startProgram } from './program.ts';
import { judgeAlways } from './scenario.ts';

/** The labels that the ingress gives every event: the site has no netgroup for the loopback. */
export const INGRESS = { peer_ip: '127.0.0.1', peer_netgroup: 'away', netgroup: 'away' };

export interface HookSiteOptions
  extends Pick<ProgramOptions, 'postgres'>, Pick<IngressFaceOptions, 'peers' | 'limits'> {
  readonly hookLimits?: HookLimits;
  /** What the ingress sees in place of the store. */
  readonly wrapStore?: (store: Store) => Store;
}

export interface Told {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Of a 202. */
  readonly events: readonly { readonly event_id: string; readonly outcome: EventOutcome }[];
}

/** Parsed, in the order in which they came. */
export interface StoredEvent extends Omit<EventRow, 'labels' | 'annotations'> {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface HookSite {
  readonly program: Program;
  /** Of the ingress listener. */
  readonly url: string;
  readonly port: number;
  readonly logged: { fields: object; message: string }[];
  /** Makes a webhook; its URL. */
  hook(source: WebhookSource, name?: string): Promise<string>;
  call<T>(operationId: string, raw: object): Promise<T>;
  events(): Promise<StoredEvent[]>;
}

export async function openHookSite(
  ending: Ending,
  { postgres = false, hookLimits, peers, limits, wrapStore = (store) => store }: HookSiteOptions = {},
): Promise<HookSite> {
  const program = await startProgram(ending, { postgres });
  let url = '';
  const store = wrapStore(program.store);
  const services = {
    ...program.services,
    reaction: { ...program.services.reaction, store },
    linkOrigin: () => Promise.resolve(url),
  };
  const home: Home = { store, services };
  const logged: { fields: object; message: string }[] = [];
  const log = { error: (fields: object, message: string) => void logged.push({ fields, message }) };
  const ingress = createIngressFace({
    home,
    log,
    ...(hookLimits === undefined ? {} : { hookLimits }),
    ...(peers === undefined ? {} : { peers }),
    ...(limits === undefined ? {} : { limits }),
  });
  ending.after(() => ingress.close(0));
  const listening = await ingress.listen({ host: '127.0.0.1', port: 0 });
  url = listening.url;
  const call = async <T>(operationId: string, raw: object): Promise<T> => {
    const operation = OPERATIONS.find(({ id }) => id === operationId) ?? assert.fail(`the table has no ${operationId}`);
    const answer = await invoke({ store: program.store, services }, operation, { caller: localCaller('ops'), raw });
    return (answer.shape === 'body' ? answer.data : undefined) as T;
  };
  return {
    program,
    url,
    port: listening.port,
    logged,
    call,
    hook: async (source, name = source) => (await call<{ url: string }>('webhook.add', { name, source })).url,
    async events() {
      const rows = await program.store.db.selectFrom('events').selectAll().orderBy('id').execute();
      return rows.map((row) => ({
        ...row,
        labels: JSON.parse(row.labels) as Record<string, string>,
        annotations: JSON.parse(row.annotations) as Record<string, string>,
      }));
    },
  };
}

/** Sends one message; anything but a text or bytes as JSON. */
export async function tell(
  url: string,
  body?: unknown,
  init: { method?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<Told> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method: init.method ?? 'POST',
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...init.headers },
    ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
  });
  judgeAlways(response.headers);
  const text = await response.text();
  const { data } = (text === '' ? {} : JSON.parse(text)) as { data?: { events: Told['events'] } };
  return { status: response.status, text, headers: response.headers, events: data?.events ?? [] };
}
