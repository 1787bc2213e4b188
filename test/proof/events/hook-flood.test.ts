/**
 * More webhooks than a daemon can take, most of them rubbish: what it answers with success it has, and the rest it
 * refuses at once.
 */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { test } from 'node:test';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';

const SENDERS = 16;
/** Of these, this number send messages of 200 alerts, which is more than the ingress accepts at a time. */
const HEAVY_SENDERS = 8;
const ALERTS_OF_HEAVY = 200;
const FLOOD_MS = 2_000;
/** A flood lasts until each kind of answer was seen, on a busy machine too. */
const FLOOD_LIMIT_MS = 30_000;
const STATUSES = [202, 400, 503];
/** A sender that was refused retries sooner than the answer says. */
const BACK_OFF_MS = 20;
/** Machines that are busy with other tests need a while; what they take alone is measured by the benchmarks. */
const REFUSAL_MEDIAN_MS = 1_000;
const API_P99_MS = 3_000;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly tookMs: number;
  readonly retryAfter: string | undefined;
}

const agent = new Agent({ keepAlive: true });

function post(url: string, body: string): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text,
            tookMs: performance.now() - began,
            retryAfter: response.headers['retry-after'],
          }),
        );
      },
    );
    sent.on('error', reject).end(body);
  });
}

/** One in ten of the small messages can be read; no two are the same, since a repeat is not stored again. */
function bodyOf(sender: number, n: number): string {
  if (sender < HEAVY_SENDERS)
    return JSON.stringify(
      Array.from({ length: ALERTS_OF_HEAVY }, (_, m) => ({ name: 'heavy', labels: { id: `${sender}-${n}-${m}` } })),
    );
  const light = JSON.stringify({ name: 'light', labels: { id: `${sender}-${n}` } });
  return n % 10 === 0 ? light : light.slice(0, -1);
}

async function flood(url: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  const began = performance.now();
  const missing = new Set(STATUSES);
  const lasts = (): boolean => performance.now() - began < (missing.size > 0 ? FLOOD_LIMIT_MS : FLOOD_MS);
  const sender = async (at: number): Promise<void> => {
    for (let n = 0; lasts(); n += 1) {
      const answer = await post(url, bodyOf(at, n));
      answers.push(answer);
      missing.delete(answer.status);
      if (answer.status === 503) await new Promise((resolve) => setTimeout(resolve, BACK_OFF_MS));
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, at) => sender(at)));
  return answers;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Calls the API again and again until `signal` aborts. Returns how long each answer took, in milliseconds. */
async function watchApi(url: string, token: string, signal: AbortSignal): Promise<number[]> {
  const tookMs: number[] = [];
  while (!signal.aborted) {
    const began = performance.now();
    const response = await fetch(`${url}/api/v1/jobs?limit=5`, { headers: { authorization: `Bearer ${token}` } });
    await response.text();
    assert.equal(response.status, 200);
    tookMs.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return tookMs;
}

async function storedIds(fixture: Fixture, outcome: 'ignored' | 'error'): Promise<Set<string>> {
  const rows = await fixture.store.db.selectFrom('events').select('id').where('outcome', '=', outcome).execute();
  return new Set(rows.map(({ id }) => id));
}

for (const postgres of [false, true]) {
  test(
    `F21: Of a flood on ${postgres ? 'PostgreSQL' : 'SQLite'} everything that was accepted is on the ledger, ` +
      'the rest is refused at once, and the API stays available',
    async (t) => {
      t.after(() => agent.destroy());
      const fixture = await openFixture(t, { postgres });
      const daemon = await fixture.start();
      const { url } = await fixture.call<{ url: string }>('webhook.add', { name: 'flood', source: 'generic' });
      const stop = new AbortController();
      const watching = watchApi(daemon.ready.web_url, fixture.token, stop.signal);
      const answers = await flood(`${daemon.ready.ingress_url}${new URL(url).pathname}`);
      stop.abort();
      const api = await watching;

      const of = (status: number): Answer[] => answers.filter((answer) => answer.status === status);
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set(STATUSES));
      const acknowledged = of(202).flatMap(({ text }) =>
        (JSON.parse(text) as { data: { events: { event_id: string }[] } }).data.events.map(({ event_id }) => event_id),
      );
      const stored = await storedIds(fixture, 'ignored');
      assert.deepEqual([acknowledged.length, stored.size], [stored.size, new Set(acknowledged).size]);
      assert.deepEqual(
        acknowledged.filter((id) => !stored.has(id)),
        [],
      );
      assert.equal((await storedIds(fixture, 'error')).size, of(400).length);
      for (const { retryAfter, text } of of(503))
        assert.deepEqual([retryAfter, text.includes('"code":"unavailable"')], ['1', true]);
      const refusalMs = percentile(
        of(503).map(({ tookMs }) => tookMs),
        0.5,
      );
      const apiMs = percentile(api, 0.99);
      t.diagnostic(
        `${acknowledged.length} events in ${of(202).length} messages, ${of(400).length} unreadable, ` +
          `${of(503).length} refused in ${refusalMs.toFixed(1)} ms (median); API p99 ${apiMs.toFixed(0)} ms`,
      );
      assert.ok(refusalMs <= REFUSAL_MEDIAN_MS, `a refusal took ${refusalMs} ms`);
      assert.ok(apiMs <= API_P99_MS, `the API took ${apiMs} ms`);
    },
  );
}
