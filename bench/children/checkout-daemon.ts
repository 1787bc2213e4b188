/** A whole daemon that also fetches repositories, one after the other, in its own process and beside its API. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Running } from '../../src/app/run/ready.ts';
import { fetchGit } from '../../src/runners/checkout/git/git.ts';
import { GIT_PROTOCOLS } from '../../src/runners/checkout/git/url.ts';
import { createLauncher } from '../../src/runners/launch/launch.ts';
import { orders, say } from '../kit/child.ts';
import { startInside, tokenOf } from '../kit/inside/daemon.ts';
import { monotonicMs } from '../kit/time.ts';
import type { CheckoutOrder } from './orders.ts';

/** Answers the longest fetch and the most memory of this process. Every end of a fetch is fine: tests judge them. */
async function walk({
  dir,
  repositories,
}: Extract<CheckoutOrder, { do: 'walk' }>): Promise<{ longestMs: number; rssBytes: number }> {
  const launcher = createLauncher();
  let longestMs = 0;
  for (const [n, { url, ref }] of repositories.entries()) {
    const into = join(dir, `into-${n}`);
    mkdirSync(into);
    const before = monotonicMs();
    await fetchGit({ url, ref, into, launcher, protocols: [...GIT_PROTOCOLS, 'file', 'http'] }).catch(() => undefined);
    longestMs = Math.max(longestMs, monotonicMs() - before);
    rmSync(into, { recursive: true });
  }
  return { longestMs, rssBytes: process.resourceUsage().maxRSS * 1024 };
}

let running: Running | null = null;
for await (const order of orders<CheckoutOrder>()) {
  if (order.do === 'start') {
    running = await startInside(order.dataDir);
    say({ url: `${running.webUrl}/api/v1/jobs`, token: await tokenOf(running) });
  } else if (order.do === 'walk') {
    say(await walk(order));
  } else {
    await running?.stop();
    say({ stopped: true });
  }
}
