/**
 * A whole daemon inside a process that also measures: from sending a webhook to the signal that its job runs. For the
 * rest it is the daemon that others load.
 */
import type { Running } from '../../src/app/run/ready.ts';
import { startServe } from '../../src/app/serve.ts';
import { readSettings } from '../../src/config/settings/read-settings.ts';
import { call } from '../kit/call.ts';
import { orders, say } from '../kit/child.ts';
import { HttpConnection, requestBytes } from '../kit/http-client.ts';
import { runsDirFor } from '../kit/scratch.ts';
import { monotonicMs, sleep } from '../kit/time.ts';
import { alertMessage, benchRules, FIRING_ALERT, type ReactionOrder, type ReactionStarted } from './reaction-orders.ts';

/** After the end of a job, until the next alert: longer than the clean-up of a job takes, and never in step. */
const PAUSE_MS = 70;
const PAUSE_SPREAD_MS = 40;

interface Open {
  readonly running: Running;
  readonly hookUrl: string;
}

async function start(dataDir: string): Promise<Open & { readonly started: ReactionStarted }> {
  const flags = {
    'data-dir': dataDir,
    'web-addr': '127.0.0.1:0',
    'ingress-addr': '127.0.0.1:0',
    'runs-dir': runsDirFor(dataDir),
  };
  const running = await startServe(readSettings(flags, {}));
  const { url: hookUrl } = await call<{ url: string }>(running, 'webhook.add', {
    name: 'bench',
    source: 'alertmanager',
  });
  const { token } = await call<{ token: string }>(running, 'token.create', { name: 'bench', scope: 'operator' });
  return {
    running,
    hookUrl,
    started: { webUrl: running.webUrl, hookUrl, headers: { authorization: `Bearer ${token}` } },
  };
}

async function addRules(running: Running, { from, to, form }: Extract<ReactionOrder, { do: 'rules' }>): Promise<void> {
  for (const { name, when } of benchRules(from, to, form)) {
    const text = `name: ${name}\nwhen: '${when}'\naction:\n  command: ["/bin/true"]\n  inventory: localhost\n`;
    await call(running, 'rule.add', { text });
  }
}

/** Milliseconds from sending each of `count` alerts to its job running. Nothing else happens at that time. */
async function idle({ running, hookUrl }: Open, count: number): Promise<number[]> {
  let started = Number.NaN;
  let finished = Promise.withResolvers<void>();
  running.signals.on('job:started', () => void (started = monotonicMs()));
  running.signals.on('job:finished', () => finished.resolve());
  const connection = await HttpConnection.open(hookUrl);
  const samples: number[] = [];
  try {
    for (let i = 0; i <= count; i += 1) {
      const bytes = requestBytes({ method: 'POST', url: hookUrl, body: alertMessage(`idle ${i}`, 1, FIRING_ALERT) });
      finished = Promise.withResolvers();
      const before = monotonicMs();
      const { status, body } = await connection.send(bytes);
      if (status !== 202 || !body.includes('"outcome":"fired"'))
        throw new Error(`the hook answered ${status}: ${body.toString()}`);
      await finished.promise;
      // The first compiles the rules, which happens once for each change of theirs.
      if (i > 0) samples.push(started - before);
      await sleep(PAUSE_MS + Math.random() * PAUSE_SPREAD_MS);
    }
  } finally {
    connection.close();
  }
  return samples;
}

let open: Open | null = null;
for await (const order of orders<ReactionOrder>()) {
  if (order.do === 'start') {
    const { started, ...rest } = await start(order.dataDir);
    open = rest;
    say(started);
  } else if (open !== null) {
    if (order.do === 'rules') {
      await addRules(open.running, order);
      say({ added: order.to - order.from });
    } else if (order.do === 'idle') say(await idle(open, order.count));
    else {
      await open.running.stop();
      say({ stopped: true });
    }
  }
}
