import { join } from 'node:path';
import { alertMessage, type Sent } from '../../children/reaction-orders.ts';
import { alertmanagerTakes, installed } from '../../floors/peers.ts';
import { startFloorServer } from '../../floors/server.ts';
import type { Bench } from '../../kit/bench.ts';
import { type Child, openChild } from '../../kit/child.ts';
import { FRESH } from '../../kit/fresh.ts';
import { load, type LoadResult } from '../../kit/load.ts';
import { number } from '../../kit/report.ts';
import { median, percentile } from '../../kit/statistics.ts';
import { drive, type Reached } from './drive.ts';

const SENDERS = 16;
/** An alert as Prometheus posts it to Alertmanager: each of another instance, as the daemon gets no alert twice. */
const PEER_ALERT = JSON.stringify([
  {
    labels: { alertname: 'DiskFull', job: 'node', severity: 'warning', instance: `${FRESH}:9100`, device: '/dev/sda1' },
    annotations: { summary: 'The disk is nearly full.' },
    generatorURL: 'http://prometheus:9090/graph?g0.expr=up',
  },
]);
const INGEST_ROUNDS = 5;
const ASKED_ROUNDS = 2;
/** Of the bare server, before its first round. */
const WARM_UP_MS = 2_000;
/** More than the ingress lets wait: 64 senders with 20 alerts each, where 256 events may. */
const FLOOD = { senders: 64, alerts: 20, retryMs: 20 };
export const FEW_RULES = 5;
export const MANY_RULES = 100;
const PATTERN_RULES = 50;
/** The daemon keeps the rules of one form when those of the next come to them. */
const RULES = {
  equal: (count: number) => `${count} rules that compare`,
  begins: (count: number) => `${count} more with a pattern for the beginning of a text`,
  contains: (count: number) => `${count} more with a pattern for a part of a text`,
};
/** Loads a bare server that commits each body before it answers, with an alert as body. */
export type LoadBare = (clients: number, durationMs: number) => Promise<LoadResult>;

/** Starts such a server, lends it, and ends it. */
export async function withBare<T>(dir: string, name: string, use: (bare: LoadBare) => Promise<T>): Promise<T> {
  const server = await startFloorServer({ mode: 'insert', file: join(dir, `${name}.db`) });
  try {
    const request = { method: 'POST', url: server.url, body: alertMessage(FRESH, 1) };
    return await use((clients, durationMs) => load({ request, clients, durationMs, warmUpMs: 300 }, 202));
  } finally {
    await server.end();
  }
}

interface Ingested {
  /** Per second, of each round. */
  readonly rates: number[];
  readonly floors: number[];
  /** Of Alertmanager; none where it is not installed. */
  readonly peers: number[];
  readonly floorP99Ms: number[];
  readonly answerP99Ms: number[];
  apiP99Ms: number;
  accepted: number;
  lost: number;
  refused: number;
  broken: number;
}

/**
 * In turn with its floor and Alertmanager: a machine that others share is faster in one second and slower in another.
 * Nothing else is asked of any of the three; the last rounds ask the API at the same time.
 */
async function ingestRounds(
  { quick }: Bench,
  daemon: Reached,
  senders: Child<Sent>,
  { bare, peer }: { readonly bare: LoadBare; readonly peer: string | null },
): Promise<Ingested> {
  const result: Ingested = {
    rates: [],
    floors: [],
    peers: [],
    floorP99Ms: [],
    answerP99Ms: [],
    apiP99Ms: 0,
    accepted: 0,
    lost: 0,
    refused: 0,
    broken: 0,
  };
  const order = { senders: SENDERS, alerts: 1, durationMs: quick ? 1_500 : 5_000, retryMs: 0 };
  // What is asked for is a rate that lasts: the first thousands of a process that has just started do not count.
  await drive(daemon, senders, order, false);
  await bare(SENDERS, WARM_UP_MS);
  const durationMs = quick ? 500 : 1_500;
  for (let round = 0; round < INGEST_ROUNDS + ASKED_ROUNDS; round += 1) {
    const isAsked = round >= INGEST_ROUNDS;
    if (!isAsked) {
      const floor = await bare(SENDERS, durationMs);
      result.floors.push(floor.perSecond);
      result.floorP99Ms.push(floor.p99Ms);
      if (peer !== null)
        result.peers.push(await alertmanagerTakes(peer, { body: PEER_ALERT, clients: SENDERS, durationMs }));
    }
    const driven = await drive(daemon, senders, order, isAsked);
    if (isAsked) result.apiP99Ms = Math.max(result.apiP99Ms, percentile(driven.latencies, 0.99));
    else {
      result.rates.push(driven.eventsPerSecond);
      result.answerP99Ms.push(driven.acceptedP99Ms);
    }
    result.accepted += driven.accepted;
    result.lost += driven.lost;
    result.refused += driven.statuses['503'] ?? 0;
    result.broken += driven.broken;
  }
  return result;
}

/** Messages with one alert from many senders, by four sets of rules, and then more than the daemon can take. */
export async function ingest(bench: Bench, dir: string, daemon: Reached): Promise<void> {
  const { report } = bench;
  const peer = installed('prometheus-alertmanager');
  if (peer === null) report.failed('Alertmanager', new Error('prometheus-alertmanager is not installed'));
  const senders = openChild<Sent>('children/hook-senders.ts');
  try {
    for (const { rules, form, goal } of [
      { rules: FEW_RULES, form: 'equal', goal: 0.9 },
      { rules: MANY_RULES, form: 'equal', goal: 0.9 },
      { rules: PATTERN_RULES, form: 'begins', goal: 0.35 },
      { rules: PATTERN_RULES, form: 'contains', goal: 0.3 },
    ] as const) {
      if (rules !== FEW_RULES)
        await daemon.ask({ do: 'rules', from: form === 'equal' ? FEW_RULES : 0, to: rules, form });
      const result = await withBare(dir, `rules-${form}-${rules}`, (bare) =>
        ingestRounds(bench, daemon, senders, { bare, peer }),
      );
      const name = `ingest, ${SENDERS} senders, ${RULES[form](rules)}`;
      const each = result.rates.map((rate) => number(Math.round(rate))).join(', ');
      const note = `rounds of ${each}; ${result.refused} messages refused, ${result.broken} without an answer`;
      const grouped = { name: 'bare node:http, grouped commits', value: median(result.floors) };
      report.add({ name, value: median(result.rates), unit: '/s', floor: grouped, note });
      if (peer !== null) {
        const floor = { name: 'Alertmanager, in memory', value: median(result.peers) };
        report.add({ name, value: median(result.rates), unit: '/s', floor, goal: { ratioAtLeast: goal } });
      }
      report.add({
        name: `${name}: accepted and lost`,
        value: result.lost,
        unit: '',
        goal: { atMost: 0 },
        note: `of ${number(result.accepted)}`,
      });
      const bareP99 = { name: 'bare node:http, grouped commits: p99', value: median(result.floorP99Ms) };
      report.add({ name: `${name}: answer p99`, value: median(result.answerP99Ms), unit: 'ms', floor: bareP99 });
      report.add({ name: `${name}: API p99 during it`, value: result.apiP99Ms, unit: 'ms', goal: { atMost: 250 } });
    }
    await overload(bench, daemon, senders);
  } finally {
    await senders.end();
  }
}

async function overload({ report, quick }: Bench, daemon: Reached, senders: Child<Sent>): Promise<void> {
  const result = await drive(daemon, senders, { ...FLOOD, durationMs: quick ? 3_000 : 10_000 }, true);
  const name = `overload, ${FLOOD.senders} senders of ${FLOOD.alerts} alerts, ${2 * MANY_RULES} rules`;
  const note =
    `${number(result.statuses['503'] ?? 0)} of them, ${number(result.statuses['202'] ?? 0)} messages taken, ` +
    `${result.broken} without an answer`;
  if (result.statuses['503'] === undefined) report.failed(`${name}: 503`, new Error('nothing was refused'));
  else {
    report.add({ name: `${name}: 503 p50`, value: result.refusedP50Ms, unit: 'ms', note });
    report.add({ name: `${name}: 503 p99`, value: result.refusedP99Ms, unit: 'ms', goal: { atMost: 20 } });
  }
  report.add({ name: `${name}: events taken`, value: result.eventsPerSecond, unit: '/s' });
  report.add({ name: `${name}: answer p99 of those taken`, value: result.acceptedP99Ms, unit: 'ms' });
  report.add({
    name: `${name}: accepted and lost`,
    value: result.lost,
    unit: '',
    goal: { atMost: 0 },
    note: `of ${number(result.accepted)}`,
  });
  report.add({
    name: `${name}: API p99 during it`,
    value: percentile(result.latencies, 0.99),
    unit: 'ms',
    goal: { atMost: 250 },
  });
}
