import type { CheckFigures } from '../../children/check-sweeper.ts';
import type { Bench } from '../../kit/bench.ts';
import { openChild } from '../../kit/child.ts';

/** A network with nothing but this part's addresses; a user other than root gets it in a user namespace. */
const OWN_NETWORK = ['unshare', ...(process.getuid?.() === 0 ? [] : ['-U', '-r']), '-n'];

function rate(perSecond: number): string {
  return `${perSecond.toFixed(0)} probes a second`;
}

function floor(value: number | undefined) {
  return value === undefined ? {} : { floor: { name: 'Prometheus with blackbox_exporter', value } };
}

/** What the sweep of checks costs, and how soon it sees a failure. */
export async function checks({ report, quick }: Bench): Promise<void> {
  const child = openChild<CheckFigures>('children/check-sweeper.ts', { wrapper: OWN_NETWORK });
  try {
    const { tcp, http, prometheus, flipP99Ms } = await child.ask({ quick });
    const name = '10,000 tcp targets each 30 s';
    report.add({
      name: `${name}: processor, share of one core`,
      value: tcp.percent,
      unit: '%',
      goal: { atMost: 20 },
      note: `${rate(tcp.perSecond)}; doctor: ${tcp.doctor}`,
    });
    report.add({ name: `${name}: memory gained`, value: tcp.gainedMiB, unit: 'MiB', goal: { atMost: 100 } });
    report.add({
      name: `${name}: p99 of the API`,
      value: tcp.apiP99Ms,
      unit: 'ms',
      floor: { name: 'the same daemon without checks', value: tcp.idleP99Ms },
      goal: { atMost: 50 },
    });
    const peer = prometheus === null ? 'not installed' : rate(prometheus.perSecond);
    report.add({
      name: '1,000 http targets each second: processor, share of one core',
      value: http.percent,
      unit: '%',
      ...floor(prometheus?.percent),
      goal: { atMost: 50 },
      note: `${rate(http.perSecond)}; Prometheus with blackbox_exporter: ${peer}`,
    });
    report.add({
      name: '1,000 http targets each second: memory gained',
      value: http.gainedMiB,
      unit: 'MiB',
      ...floor(prometheus?.gainedMiB),
      goal: { atMost: 80 },
    });
    report.add({
      name: 'a port that closes, to its event, beyond three intervals: p99 of 100',
      value: flipP99Ms,
      unit: 'ms',
      goal: { atMost: 50 },
    });
  } finally {
    await child.end();
  }
}
