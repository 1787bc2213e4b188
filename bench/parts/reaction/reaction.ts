import { join } from 'node:path';
import { prepareDataDir } from '../../src/config/data-dir.ts';
import {
  alertMessage,
  type Evaluated,
  type FillOrder,
  type Read,
  type ReadOrder,
  type Sent,
} from '../children/reaction-orders.ts';
import { alertmanagerTakes, installed } from '../floors/peers.ts';
import { startFloorServer } from '../floors/server.ts';
import type { Bench } from '../kit/bench.ts';
import { type Child, openChild, runChild } from '../kit/child.ts';
import { load } from '../kit/load.ts';
import { residentMiB } from '../kit/process-facts.ts';
import { number } from '../kit/report.ts';
import { passableTempDir, removeDir } from '../kit/scratch.ts';
import { median, percentile } from '../kit/statistics.ts';
import { sleep } from '../kit/time.ts';
import { API, ASK_EVERY_MS, drive, type Reached, whileAsking, withDaemon } from './reaction-drive.ts';

const SENDERS = 16;
/** An alert as Prometheus posts it to Alertmanager. */
const PEER_ALERT = JSON.stringify([
  {
    labels: { alertname: 'DiskFull', job: 'node', severity: 'warning', instance: 'web0:9100', device: '/dev/sda1' },
    annotations: { summary: 'The disk is nearly full.' },
    generatorURL: 'http://prometheus:9090/graph?g0.expr=up',
  },
]);
const INGEST_ROUNDS = 5;
/** More than the ingress lets wait: 64 senders with 20 alerts each, where 256 events may. */
const FLOOD = { senders: 64, alerts: 20, retryMs: 20 };
const FEW_RULES = 5;
const MANY_RULES = 100;
const PATTERN_RULES = 50;
/** The daemon has the few and many rules of the first form when those of the second come to them. */
const RULES = {
  equal: (count: number) => `${count} rules that compare`,
  whole: (count: number) => `${count} more that need the CEL library`,
};
const EVALUATED = { equal: 'that compare,', whole: 'by the CEL library,' };
/** From an alert to its job, many alerts at once, the rules by themselves, and the whole ledger in one answer. */
export async function reaction(bench: Bench): Promise<void> {
  const dir = passableTempDir('reaction');
  try {
    await withDaemon(join(dir, 'data'), join(dir, 'daemon.log'), async (daemon) => {
      await daemon.ask({ do: 'rules', from: 0, to: FEW_RULES, form: 'equal' });
      await idle(bench, dir, daemon);
      await ingest(bench, dir, daemon);
    });
    await evaluations(bench, dir);
    await ledger(bench, dir);
  } finally {
    removeDir(dir);
  }
}

/** A bare server that commits each body before it answers, with an alert as body. */
async function bare(dir: string, name: string, clients: number, durationMs: number) {
  const server = await startFloorServer({ mode: 'insert', file: join(dir, `${name}.db`) });
  try {
    return await load(
      {
        request: { method: 'POST', url: server.url, body: alertMessage('floor', 1) },
        clients,
        durationMs,
        warmUpMs: 300,
      },
      202,
    );
  } finally {
    await server.end();
  }
}

async function idle({ report, quick }: Bench, dir: string, daemon: Reached): Promise<void> {
  const one = await bare(dir, 'one', 1, 500);
  const samples = await daemon.ask<number[]>({ do: 'idle', count: quick ? 40 : 200 });
  const floor = (what: 'p50' | 'p99') => ({
    name: `one request to a bare node:http that commits: ${what}`,
    value: one[`${what}Ms`],
  });
  const name = `webhook sent to job running, idle, ${FEW_RULES} rules`;
  report.add({
    name: `${name}: p50`,
    value: percentile(samples, 0.5),
    unit: 'ms',
    floor: floor('p50'),
    goal: { atMost: 8 },
  });
  report.add({
    name: `${name}: p99`,
    value: percentile(samples, 0.99),
    unit: 'ms',
    floor: floor('p99'),
    goal: { atMost: 30 },
  });
}

interface Ingested {
  /** Per second, of each round. */
  readonly rates: number[];
  readonly floors: number[];
  readonly floorP99Ms: number[];
  readonly answerP99Ms: number[];
  readonly apiP99Ms: number[];
  accepted: number;
  lost: number;
  refused: number;
  broken: number;
}

/** In turn with its floor: a machine that others share is faster in one second and slower in another. */
async function ingestRounds(
  { quick }: Bench,
  dir: string,
  daemon: Reached,
  senders: Child<Sent>,
  name: string,
): Promise<Ingested> {
  const result: Ingested = {
    rates: [],
    floors: [],
    floorP99Ms: [],
    answerP99Ms: [],
    apiP99Ms: [],
    accepted: 0,
    lost: 0,
    refused: 0,
    broken: 0,
  };
  const order = { senders: SENDERS, alerts: 1, durationMs: quick ? 1_500 : 5_000, retryMs: 0 };
  // What is asked for is a rate that lasts: the first thousands of a process that has just started do not count.
  await drive(daemon, senders, order);
  for (let round = 0; round < INGEST_ROUNDS; round += 1) {
    const floor = await bare(dir, `${name}-${round}`, SENDERS, quick ? 500 : 1_500);
    const driven = await drive(daemon, senders, order);
    result.rates.push(driven.eventsPerSecond);
    result.floors.push(floor.perSecond);
    result.floorP99Ms.push(floor.p99Ms);
    result.answerP99Ms.push(driven.acceptedP99Ms);
    result.apiP99Ms.push(driven.apiP99Ms);
    result.accepted += driven.accepted;
    result.lost += driven.lost;
    result.refused += driven.statuses['503'] ?? 0;
    result.broken += driven.broken;
  }
  return result;
}

async function ingest(bench: Bench, dir: string, daemon: Reached): Promise<void> {
  const { report, quick } = bench;
  const peer = installed('prometheus-alertmanager');
  if (peer === null) report.failed('Alertmanager', new Error('prometheus-alertmanager is not installed'));
  const durationMs = quick ? 2_000 : 5_000;
  const senders = openChild<Sent>('children/hook-senders.ts');
  try {
    for (const { rules, form, goal } of [
      { rules: FEW_RULES, form: 'equal', goal: 0.9 },
      { rules: MANY_RULES, form: 'equal', goal: 0.9 },
      { rules: PATTERN_RULES, form: 'whole', goal: 0.6 },
    ] as const) {
      if (rules !== FEW_RULES)
        await daemon.ask({ do: 'rules', from: form === 'equal' ? FEW_RULES : 0, to: rules, form });
      const result = await ingestRounds(bench, dir, daemon, senders, `rules-${form}-${rules}`);
      const name = `ingest, ${SENDERS} senders, ${RULES[form](rules)}`;
      const each = result.rates.map((rate) => number(Math.round(rate))).join(', ');
      const note = `rounds of ${each}; ${result.refused} messages refused, ${result.broken} without an answer`;
      const grouped = { name: 'bare node:http, grouped commits', value: median(result.floors) };
      report.add({ name, value: median(result.rates), unit: '/s', floor: grouped, note });
      if (peer !== null) {
        const taken = await alertmanagerTakes(peer, { body: PEER_ALERT, clients: SENDERS, durationMs });
        const floor = { name: 'Alertmanager, in memory', value: taken };
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
      report.add({
        name: `${name}: API p99 during it`,
        value: Math.max(...result.apiP99Ms),
        unit: 'ms',
        goal: { atMost: 250 },
      });
    }
    await overload(bench, daemon, senders);
  } finally {
    await senders.end();
  }
}

async function overload({ report, quick }: Bench, daemon: Reached, senders: Child<Sent>): Promise<void> {
  const result = await drive(daemon, senders, { ...FLOOD, durationMs: quick ? 3_000 : 10_000 });
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
  report.add({ name: `${name}: API p99 during it`, value: result.apiP99Ms, unit: 'ms', goal: { atMost: 250 } });
}

async function evaluations({ report, quick }: Bench, dir: string): Promise<void> {
  for (const form of ['equal', 'whole'] as const) {
    for (const rules of [FEW_RULES, MANY_RULES]) {
      const result = await runChild<Evaluated>('children/evaluator.ts', {
        dir,
        rules,
        form,
        durationMs: quick ? 1_000 : 3_000,
      });
      const goal = { atLeast: 50_000 };
      report.add({
        name: `evaluations, ${EVALUATED[form]} ${rules} rules, first second of a process`,
        value: result.firstPerSecond,
        unit: '/s',
        goal,
      });
      report.add({
        name: `evaluations, ${EVALUATED[form]} ${rules} rules, after it`,
        value: result.perSecond,
        unit: '/s',
        goal,
      });
    }
  }
}

/** The memory of the daemon while `work` is under way, at its highest. */
async function peakMiB<T>(pid: number, work: Promise<T>): Promise<{ result: T; peak: number }> {
  let peak = residentMiB(pid);
  const watch = setInterval(() => (peak = Math.max(peak, residentMiB(pid))), ASK_EVERY_MS);
  try {
    return { result: await work, peak };
  } finally {
    clearInterval(watch);
  }
}

async function ledger({ report, quick }: Bench, dir: string): Promise<void> {
  const count = quick ? 100_000 : 1_000_000;
  const dataDir = join(dir, 'filled');
  const { database } = await prepareDataDir(dataDir);
  await runChild('children/event-filler.ts', { file: database, count } satisfies FillOrder);
  await withDaemon(dataDir, join(dir, 'filled.log'), async (daemon) => {
    const rest: number[] = [];
    const quiet = await whileAsking(daemon, sampleRest(daemon.pid, rest));
    const reader = openChild<Read>('children/hook-senders.ts');
    try {
      const order: ReadOrder = { do: 'read', url: `${daemon.webUrl}${API}/events?limit=0`, headers: daemon.headers };
      const { result, peak } = await peakMiB(daemon.pid, whileAsking(daemon, reader.ask(order)));
      const { rows, bytes, ms } = result.result;
      if (rows !== count) throw new Error(`the list has ${rows} events of ${count}`);
      const name = `GET /events?limit=0 of ${number(count)}`;
      report.add({ name, value: ms / 1000, unit: 's', note: `${number(bytes / 1e6)} MB` });
      report.add({ name: `${name}: memory above rest`, value: peak - median(rest), unit: 'MiB', goal: { atMost: 64 } });
      const floor = { name: 'the same without it', value: percentile(quiet.latencies, 0.99) };
      report.add({
        name: `${name}: other calls p99`,
        value: percentile(result.latencies, 0.99),
        unit: 'ms',
        floor,
        goal: { atMost: 100 },
      });
    } finally {
      await reader.end();
    }
  });
}

async function sampleRest(pid: number, rest: number[]): Promise<void> {
  for (let i = 0; i < 20; i += 1) {
    await sleep(50);
    rest.push(residentMiB(pid));
  }
}
