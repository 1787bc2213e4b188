/** A whole daemon that also fetches repositories, one after the other, in its own process and beside its API. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../src/config/settings/read-settings.ts';
import { localCaller } from '../../src/domain/access/caller.ts';
import type { Running } from '../../src/app/run/ready.ts';
import { startServe } from '../../src/app/serve.ts';
import { invoke } from '../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { fetchGit } from '../../src/runners/checkout/git/git.ts';
import { GIT_PROTOCOLS } from '../../src/runners/checkout/git/url.ts';
import { createLauncher } from '../../src/runners/launch/launch.ts';
import { orders, say } from '../kit/child.ts';
import { monotonicMs } from '../kit/time.ts';
import type { CheckoutOrder } from './orders.ts';

async function token(running: Running): Promise<string> {
  const operation = OPERATIONS.find(({ id }) => id === 'token.create');
  if (operation === undefined) throw new Error('there is no operation token.create');
  const answer = await invoke(running.runtime, operation, {
    caller: localCaller('bench'),
    raw: { name: 'bench', scope: 'operator' },
  });
  return answer.shape === 'body' ? (answer.data as { token: string }).token : '';
}

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
    const flags = {
      'data-dir': order.dataDir,
      'web-addr': '127.0.0.1:0',
      'ingress-addr': '127.0.0.1:0',
      'runs-dir': `${order.dataDir}-runs`,
    };
    running = await startServe(readSettings(flags, {}));
    say({ url: `${running.webUrl}/api/v1/jobs`, token: await token(running) });
  } else if (order.do === 'walk') {
    say(await walk(order));
  } else {
    await running?.stop();
    say({ stopped: true });
  }
}
