/** How long one request holds the event loop: each GET of the API, each page of the console, each document. */
import { join } from 'node:path';
import { z } from 'zod';
import { documentPaths } from '../../../src/faces/web/docs/library.ts';
import { documentPage } from '../../../src/faces/web/docs/links.ts';
import { PAGES } from '../../../src/faces/web/pages/table.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import type { TurnsOrder } from '../../children/orders.ts';
import type { Bench } from '../../kit/bench.ts';
import { type Child, openChild } from '../../kit/child.ts';
import { NODE_FLAGS } from '../../kit/daemon.ts';
import { filledDataDir, removeFilled } from '../../kit/filled.ts';
import { addHistory } from '../../kit/history.ts';
import { HttpConnection, requestBytes } from '../../kit/http-client.ts';
import { median } from '../../kit/statistics.ts';

/** Each has ended, so there are as many events. */
const JOBS = 100_000;
const MOST_MS = 5;
const WARM_UP = 3;
const API = '/api/v1';
/** Of lists: what is asked for by default, the longest page, and everything. */
const LIMITS = ['', '?limit=500', '?limit=0'];

interface Answer {
  readonly url: string;
  readonly token: string;
  readonly longestMs: number;
}

class Client {
  readonly #child: Child<Answer>;
  readonly #connection: HttpConnection;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(child: Child<Answer>, connection: HttpConnection, { url, token }: Answer) {
    this.#child = child;
    this.#connection = connection;
    this.#url = url;
    this.#headers = { authorization: `Bearer ${token}` };
  }

  static async start(child: Child<Answer>, dataDir: string): Promise<Client> {
    const started = await child.ask({ do: 'start', dataDir } satisfies TurnsOrder);
    return new Client(child, await HttpConnection.open(started.url), started);
  }

  ask(method: string, path: string) {
    return this.#connection.send(requestBytes({ method, url: this.#url + path, headers: this.#headers }));
  }

  /** The longest turn while a path is answered again, since a write came before it; the median of `rounds`. */
  async longestOf(path: string, rounds: number): Promise<{ readonly ms: number; readonly status: number }> {
    const samples: number[] = [];
    let status = 0;
    for (let i = 0; i < WARM_UP + rounds; i += 1) {
      await this.ask('POST', `${API}/maintenance/cordon`);
      await this.#child.ask({ do: 'begin' } satisfies TurnsOrder);
      ({ status } = await this.ask('GET', path));
      const { longestMs } = await this.#child.ask({ do: 'end' } satisfies TurnsOrder);
      if (i >= WARM_UP) samples.push(longestMs);
    }
    return { ms: median(samples), status };
  }

  /** The first thing of a list, for the path of a thing; null without one. */
  async first(list: string, name: string): Promise<string | null> {
    const { status, body } = await this.ask('GET', list);
    if (status !== 200) return null;
    const { data } = JSON.parse(body.toString()) as { data: unknown };
    const value: unknown = Array.isArray(data) ? (data[0] as Record<string, unknown> | undefined)?.[name] : undefined;
    return typeof value === 'string' ? value : null;
  }

  close(): void {
    this.#connection.close();
  }
}

async function operationPaths(client: Client): Promise<string[]> {
  const paths: string[] = [];
  for (const { http, effect, input } of OPERATIONS) {
    if (!('method' in http) || http.method !== 'GET' || effect === 'stream') continue;
    const path = await filled(client, http.path);
    const limits = input instanceof z.ZodObject && 'limit' in input.shape ? LIMITS : [''];
    if (path === null) leftOut(`${API}${http.path}`);
    else paths.push(...limits.map((query) => `${API}${path}${query}`));
  }
  return paths;
}

/** `{id}` or `:id` is that of the first thing of the list; null where nothing is stored. */
async function filled(client: Client, path: string): Promise<string | null> {
  const [, list = '', name = '', rest = ''] = /^(\/[^/]+)\/[{:](\w+)\}?(.*)$/.exec(path) ?? [];
  if (list === '') return path;
  const first = await client.first(`${API}${list}`, name);
  return first === null ? null : `${list}/${first}${rest}`;
}

function leftOut(path: string): void {
  process.stdout.write(`  (${path} is left out: nothing of it is stored)\n`);
}

async function pagePaths(client: Client): Promise<string[]> {
  const paths: string[] = [];
  for (const page of PAGES) {
    if (page.path.startsWith('/docs/')) continue;
    const path = await filled(client, page.path);
    if (path === null) leftOut(page.path);
    else paths.push(path);
  }
  return [...paths, ...(await documentPaths()).map(documentPage)];
}

/** Goal: no request holds the loop for more than 5 ms of the processor. */
export async function turns({ report, quick }: Bench): Promise<void> {
  const dataDir = await filledDataDir(JOBS);
  addHistory(join(dataDir, 'gatehouse.db'));
  const child = openChild<Answer>('children/turns-daemon.ts', { flags: NODE_FLAGS });
  try {
    const client = await Client.start(child, dataDir);
    const found: { readonly path: string; readonly ms: number }[] = [];
    for (const path of [...(await operationPaths(client)), ...(await pagePaths(client))]) {
      const { ms, status } = await client.longestOf(path, quick ? 3 : 9);
      if (status !== 200) process.stdout.write(`  (${path} answers ${status})\n`);
      else found.push({ path, ms });
    }
    const above = found.filter(({ ms }) => ms > MOST_MS).toSorted((a, b) => b.ms - a.ms);
    for (const { path, ms } of above)
      report.add({ name: `GET ${path}: longest turn`, value: ms, unit: 'ms', goal: { atMost: MOST_MS } });
    const [worst] = found.toSorted((a, b) => b.ms - a.ms);
    report.add({
      name: `longest turn of ${found.length} paths, ${JOBS} jobs and events`,
      value: worst?.ms ?? Number.NaN,
      unit: 'ms',
      goal: { atMost: MOST_MS },
      note: worst?.path ?? '',
    });
    client.close();
    await child.ask({ do: 'stop' } satisfies TurnsOrder);
  } finally {
    await child.end();
    removeFilled();
  }
}
