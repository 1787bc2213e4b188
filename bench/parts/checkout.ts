import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { HOSTILE } from '../../test/support/attacks/hostile/all.ts';
import { HostileServer } from '../../test/support/attacks/hostile/server.ts';
import type { Bench } from '../kit/bench.ts';
import { openChild } from '../kit/child.ts';
import { NODE_FLAGS } from '../kit/daemon.ts';
import { load, type LoadResult } from '../kit/load.ts';
import { removeDir, tempDir } from '../kit/scratch.ts';

/** One client that asks without a pause, in slices that end soon after the walk does. */
const SLICE_MS = 4_000;
/** In a quick run. */
const EACH = 4;
/** Bytes. */
const MIB = 1024 * 1024;

/** What the API answers in while the daemon fetches hostile repositories. */
export async function checkout({ report, quick }: Bench): Promise<void> {
  const dir = tempDir('checkout');
  // The runs lie beside it: the account of jobs has to get through the folders above them.
  const data = tempDir('checkout-data');
  const server = await new HostileServer().listen();
  const daemon = openChild<unknown>('children/checkout-daemon.ts', {
    logFile: join(dir, 'daemon.log'),
    flags: NODE_FLAGS,
  });
  try {
    const { url, token } = (await daemon.ask({ do: 'start', dataDir: data })) as { url: string; token: string };
    const slice = (): Promise<LoadResult> =>
      load(
        {
          request: { method: 'GET', url, headers: { authorization: `Bearer ${token}` } },
          clients: 1,
          durationMs: SLICE_MS,
          warmUpMs: 200,
        },
        200,
      );
    const alone = await slice();
    let folders = 0;
    const folder = (): string => {
      const path = join(dir, `g${(folders += 1)}`);
      mkdirSync(path);
      return path;
    };
    const rows = HOSTILE.filter((_, n) => !quick || n % EACH === 0);
    // All are made before: making them keeps this process, which is the server, busy.
    const repositories = rows
      .map((row) => row.build({ folder, server, marker: join(dir, 'marker') }))
      .map(({ url: from, ref }) => ({ url: from, ref: ref ?? null }));
    const over = new AbortController();
    const walking = (
      daemon.ask({ do: 'walk', dir, repositories }) as Promise<{ longestMs: number; rssBytes: number }>
    ).finally(() => over.abort());
    let worstMs = 0;
    let requests = 0;
    while (!over.signal.aborted) {
      const { p99Ms, requests: some } = await slice();
      worstMs = Math.max(worstMs, p99Ms);
      requests += some;
    }
    const { longestMs, rssBytes } = await walking;
    const floor = { name: 'the same while nothing else happens: p99', value: alone.p99Ms, unit: 'ms' as const };
    report.add({
      name: `a request while ${rows.length} hostile repositories are fetched: p99 of the worst 4 s`,
      value: worstMs,
      unit: 'ms',
      floor,
      goal: { atMost: 100 },
      note: `${requests} requests`,
    });
    report.add({ name: 'the longest fetch of one of them', value: longestMs / 1_000, unit: 's', goal: { atMost: 5 } });
    report.add({ name: 'memory of the daemon, at most', value: rssBytes / MIB, unit: 'MiB' });
    await daemon.ask({ do: 'stop' });
  } finally {
    await daemon.end();
    server.close();
    for (const each of [dir, data]) removeDir(each);
  }
}
