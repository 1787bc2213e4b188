import type { Probed, ProbeOrder } from '../../children/probe-orders.ts';
import type { Bench } from '../../kit/bench.ts';
import { type Child, openChild } from '../../kit/child.ts';
import type { Report } from '../../kit/report.ts';
import { inTurn } from '../../kit/statistics.ts';

/** As many as are asked for at once. */
const AT_ONCE = 3_000;
/** Of a sweep: its probes are spread over the interval. */
const SPREAD = 50;
const TCP_TARGETS = 10_000;
const TCP_INTERVAL_S = 30;
const HTTP_TARGETS = 1_000;

interface Ports {
  readonly tcp: number;
  readonly http: number;
}

/** What probes cost, beside bare connections and requests of the same process. The targets are another process. */
export async function probes({ report, quick }: Bench): Promise<void> {
  const targets = openChild<Ports>('children/probe-targets.ts');
  const prober = openChild<Probed>('children/prober.ts');
  const rounds = quick ? 3 : 9;
  try {
    const ports = await targets.next();
    await ask(prober, { way: 'tcp', port: ports.tcp, count: AT_ONCE, atATime: SPREAD });
    await atOnce(report, prober, ports, rounds);
    await processor(report, prober, ports, rounds);
  } finally {
    await Promise.all([prober.end(), targets.end()]);
  }
}

async function atOnce(report: Report, prober: Child<Probed>, { tcp: port }: Ports, rounds: number): Promise<void> {
  const rate = async (way: ProbeOrder['way']): Promise<number> =>
    AT_ONCE / ((await ask(prober, { way, port, count: AT_ONCE, atATime: AT_ONCE })).ms / 1_000);
  const { own, floor } = await inTurn(rounds, { own: () => rate('tcp'), floor: () => rate('bare-tcp') });
  report.add({
    name: `tcp probes, ${AT_ONCE} asked for at once`,
    value: own,
    unit: '/s',
    floor: { name: 'bare connections', value: floor },
    goal: { atLeast: 3_000 },
  });
}

async function processor(report: Report, prober: Child<Probed>, ports: Ports, rounds: number): Promise<void> {
  const each = async (way: ProbeOrder['way'], port: number): Promise<number> =>
    (await ask(prober, { way, port, count: HTTP_TARGETS, atATime: SPREAD })).processorMs / HTTP_TARGETS;
  const used = await inTurn(rounds, {
    tcp: () => each('tcp', ports.tcp),
    bareTcp: () => each('bare-tcp', ports.tcp),
    http: () => each('http', ports.http),
    metric: () => each('metric', ports.http),
    bareHttp: () => each('bare-http', ports.http),
  });
  const tcpRate = TCP_TARGETS / TCP_INTERVAL_S;
  report.add({
    name: `processor of ${TCP_TARGETS} tcp probes every ${TCP_INTERVAL_S} s, share of one core`,
    value: share(used.tcp, tcpRate),
    unit: '%',
    floor: { name: 'bare connections', value: share(used.bareTcp, tcpRate) },
    goal: { atMost: 20 },
    note: `${(used.tcp * 1_000).toFixed(0)} µs each`,
  });
  const floor = { name: 'bare requests', value: share(used.bareHttp, HTTP_TARGETS) };
  report.add({
    name: `processor of ${HTTP_TARGETS} http probes a second, share of one core`,
    value: share(used.http, HTTP_TARGETS),
    unit: '%',
    floor,
    goal: { atMost: 50 },
    note: `${(used.http * 1_000).toFixed(0)} µs each`,
  });
  report.add({ name: 'the same of metric probes', value: share(used.metric, HTTP_TARGETS), unit: '%', floor });
}

function share(msEach: number, perSecond: number): number {
  return (msEach * perSecond) / 10;
}

function ask(prober: Child<Probed>, order: ProbeOrder): Promise<Probed> {
  return prober.ask(order);
}
