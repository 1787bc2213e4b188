import { startFloorServer } from '../../floors/server.ts';
import type { Bench } from '../../kit/bench.ts';
import { expectStatus, startDaemon } from '../../kit/daemon.ts';
import { load } from '../../kit/load.ts';
import { inTurn } from '../../kit/statistics.ts';

const CHECKS = 10;
const CLIENTS = 16;

/** The public status page, which is answered from memory. */
export async function status({ report, quick }: Bench): Promise<void> {
  const names = Array.from({ length: CHECKS }, (_, i) => `check-${i}`);
  const shown = names.flatMap((name) => ['--status-check', `${name}=Service ${name}`]);
  const daemon = await startDaemon({ flags: ['--status-addr', '127.0.0.1:0', ...shown] });
  try {
    for (const name of names) {
      const check = { name, kind: 'tcp', interval: '1h', targets: ['one=192.0.2.1:9'] };
      expectStatus(await daemon.ask('POST', '/checks', check), 200);
    }
    const body = await (await fetch(daemon.statusUrl)).text();
    const server = await startFloorServer({ mode: 'bytes', body });
    try {
      const durationMs = quick ? 1_000 : 2_000;
      const drive = async (url: string): Promise<number> =>
        (await load({ request: { method: 'GET', url }, clients: CLIENTS, durationMs, warmUpMs: 500 }, 200)).perSecond;
      const rates = await inTurn(quick ? 1 : 3, {
        floor: () => drive(server.url),
        ours: () => drive(`${daemon.statusUrl}/`),
      });
      report.add({
        name: `the status page, ${CLIENTS} clients`,
        value: rates.ours,
        unit: '/s',
        floor: { name: 'bare node:http, the same bytes', value: rates.floor },
        goal: { ratioAtLeast: 0.5 },
      });
    } finally {
      await server.end();
    }
  } finally {
    await daemon.stop();
  }
}
