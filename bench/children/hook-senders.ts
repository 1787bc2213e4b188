/**
 * Senders of alerts, in a separate process: each on a kept connection, its next message when it has the answer to
 * the last, no two alerts with the same fingerprint. `read` is one reader of a long list, who keeps nothing of it.
 */
import { get } from 'node:http';
import { orders, say } from '../kit/child.ts';
import { FRESH, freshRequests } from '../kit/fresh.ts';
import { HttpConnection, requestBytes } from '../kit/http-client.ts';
import { percentile } from '../kit/statistics.ts';
import { monotonicMs, sleep } from '../kit/time.ts';
import { alertMessage, type Read, type ReadOrder, type SendOrder, type Sent } from './reaction-orders.ts';

const ROW_MARK = '"received_at":';

interface Tally {
  accepted: number;
  broken: number;
  readonly statuses: Record<string, number>;
  readonly takenMs: number[];
  readonly refusedMs: number[];
}

async function sender(
  order: SendOrder,
  message: () => Buffer,
  countFrom: number,
  stopAt: number,
  tally: Tally,
): Promise<void> {
  let connection = await HttpConnection.open(order.url);
  const reopen = async (): Promise<void> => {
    connection.close();
    connection = await HttpConnection.open(order.url);
  };
  let bytes = message();
  while (monotonicMs() < stopAt) {
    const before = monotonicMs();
    const answer = await connection.send(bytes).catch(() => null);
    const ms = monotonicMs() - before;
    if (answer === null) {
      tally.broken += 1;
      await reopen();
      continue;
    }
    if (answer.status === 202) tally.accepted += order.alerts;
    if (before >= countFrom) {
      tally.statuses[answer.status] = (tally.statuses[answer.status] ?? 0) + 1;
      (answer.status === 202 ? tally.takenMs : tally.refusedMs).push(ms);
    }
    if (answer.head.includes('\r\nconnection: close')) await reopen();
    // What was refused is sent again, as senders do; making another each time would keep this process from reading
    // answers.
    if (answer.status === 503) await sleep(order.retryMs);
    else bytes = message();
  }
  connection.close();
}

async function send(order: SendOrder): Promise<Sent> {
  const countFrom = monotonicMs() + order.warmUpMs;
  const tally: Tally = { accepted: 0, broken: 0, statuses: {}, takenMs: [], refusedMs: [] };
  const message = freshRequests(
    requestBytes({ method: 'POST', url: order.url, body: alertMessage(FRESH, order.alerts) }),
  );
  const stopAt = countFrom + order.durationMs;
  await Promise.all(Array.from({ length: order.senders }, () => sender(order, message, countFrom, stopAt, tally)));
  const seconds = (monotonicMs() - countFrom) / 1000;
  const { accepted, broken, statuses, takenMs, refusedMs } = tally;
  return {
    accepted,
    broken,
    statuses,
    eventsPerSecond: (takenMs.length * order.alerts) / seconds,
    acceptedP99Ms: percentile(takenMs, 0.99),
    refusedP50Ms: percentile(refusedMs, 0.5),
    refusedP99Ms: percentile(refusedMs, 0.99),
  };
}

function read({ url, headers }: ReadOrder): Promise<Read> {
  const before = monotonicMs();
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, agent: false }, (response) => {
      let [rows, bytes, rest] = [0, 0, ''];
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        const parts = (rest + chunk.toString('latin1')).split(ROW_MARK);
        rows += parts.length - 1;
        // The mark may lie across two chunks, and the end of one that was counted is not the start of another.
        rest = (parts.at(-1) ?? '').slice(1 - ROW_MARK.length);
      });
      response.once('error', reject);
      response.once('end', () => {
        if (response.statusCode === 200) resolve({ rows, bytes, ms: monotonicMs() - before });
        else reject(new Error(`the list answered ${String(response.statusCode)}`));
      });
    });
    request.once('error', reject);
  });
}

for await (const order of orders<SendOrder | ReadOrder>())
  say(order.do === 'send' ? await send(order) : await read(order));
