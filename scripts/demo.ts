/**
 * Shows the main paths in one command, with a real daemon on a temporary directory. First a command is queued through
 * the HTTP API and followed to its end. Then an alert arrives, a rule holds its job until a person approves it, a phone
 * gets the notification and approves by its link, and the job runs. With terraform or tofu, a plan is approved as well.
 * `--keep` leaves the daemon running; it removes its directory when it ends. With `--keep --story` see demo-story.ts.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agree, expect } from './demo-agree.ts';
import { openPhone } from './demo-phone.ts';
import {
  api,
  type Demo,
  follow,
  type Held,
  type JobEnd,
  ownRunsDir,
  read,
  say,
  startDaemon,
  svc,
} from './demo-service.ts';
import { changeInfrastructure, findTool } from './demo-workspace.ts';

/** As shells have it for SIGINT. */
const EXIT_INTERRUPTED = 130;
const COMMAND = [
  '/bin/sh',
  '-c',
  'for i in 1 2 3; do echo "step $i of 3 on $(uname -n)"; sleep 0.3; done; echo "job $SVC_JOB_ID is done"',
];

const RULE = `name: disk-full
when: event.source == "alertmanager" && event.status == "firing" && event.labels.alertname == "DiskFull"
approval: required
action:
  command: ["echo", "making room on", "\${path(event.labels.mountpoint)}", "of", "\${event.labels.instance}"]
  inventory: localhost
`;

/** What Alertmanager posts, without what it adds for templates. */
const ALERT = {
  version: '4',
  receiver: 'gatehouse',
  status: 'firing',
  groupKey: '{}:{alertname="DiskFull"}',
  truncatedAlerts: 0,
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'DiskFull', severity: 'critical', instance: 'db1:9100', mountpoint: '/data' },
      annotations: { summary: '/data is 97 % full' },
      startsAt: new Date().toISOString(),
      endsAt: '0001-01-01T00:00:00Z',
      fingerprint: '9f2d6c1b7a3e4d50',
    },
  ],
};

async function runCommand(demo: Demo): Promise<JobEnd> {
  say('3. Queueing a command (POST /api/v1/commands/run) ...');
  const { job_id: jobId } = await api<{ job_id: string }>(demo, '/commands/run', {
    inventory: 'localhost',
    command: COMMAND,
  });
  say(`4. Following ${jobId} (GET /api/v1/jobs/${jobId}/stream) ...`);
  const end = await follow(demo, jobId);
  say(`5. The job ${end.state}, exit code ${end.exit_code}.`);
  return end;
}

/** From an alert to a job that waits; answers the ids of both. */
async function raiseAlert(demo: Demo): Promise<{ jobId: string; approvalId: string }> {
  say('\n6. Creating a webhook, and a rule whose job waits for approval (svc webhook add, svc rule add) ...');
  const hook = await svc<{ url: string }>(demo.held, 'webhook', 'add', 'alerts', '--source', 'alertmanager');
  const file = join(demo.held.folder, 'disk-full.yaml');
  writeFileSync(file, RULE);
  await svc(demo.held, 'rule', 'add', '--file', file);
  say('7. Posting an alert as Alertmanager does: DiskFull on db1:9100 is firing (POST /hook/…) ...');
  const { events } = await read<{ events: { event_id: string }[] }>(hook.url, {}, ALERT);
  const eventId = events[0]?.event_id ?? '';
  const event = await api<{ outcome: string; reason: string; job_id: string; approval_id: string }>(
    demo,
    `/events/${eventId}`,
  );
  say(`   The event is ${event.outcome}: ${event.reason}`);
  expect('the outcome of the event', event.outcome, 'gated');
  const { state } = await api<{ state: string }>(demo, `/jobs/${event.job_id}`);
  say(`   ${event.job_id} is ${state}: nothing has run.`);
  return { jobId: event.job_id, approvalId: event.approval_id };
}

async function reactToAlert(demo: Demo): Promise<JobEnd> {
  const { jobId, approvalId } = await raiseAlert(demo);
  await agree(demo, approvalId, await demo.phone.next(), 8);
  say(`11. Following ${jobId} ...`);
  const end = await follow(demo, jobId);
  say(
    `12. The job ${end.state}, exit code ${end.exit_code}. The phone shows how it was decided: ` +
      `"${(await demo.phone.next()).title}".`,
  );
  say('\nAn alert came in, its job waited for a person, the person agreed on a phone, and then it ran.');
  return end;
}

async function perform(held: Held, keep: boolean): Promise<number> {
  const { dataDir } = held;
  say(`1. Starting the daemon on ${dataDir} ...`);
  const phone = (held.phone = await openPhone());
  const tool = findTool();
  const ready = await startDaemon(held, phone, tool?.path);
  say(`   ready on ${ready.web_url}`);
  say('2. Creating an operator token (svc token create) ...');
  const { token } = await svc<{ token: string }>(held, 'token', 'create', '--name', 'demo', '--scope', 'operator');
  const demo: Demo = { held, ready, phone, token };
  const ends = [await runCommand(demo), await reactToAlert(demo)];
  if (tool === null)
    say('\nLeft out: a plan and its approved apply. They need terraform or tofu on the PATH, and neither is there.');
  else ends.push(...(await changeInfrastructure(demo, tool)));
  if (keep)
    say(
      `\nStill running: ${ready.web_url} (sign in with the token)\n` +
        `For svc and curl, in another terminal:\n  export SVC_REMOTE=${ready.web_url}\n  export SVC_TOKEN=${token}\n` +
        `Stop it; its data are removed then: kill ${ready.pid}\n(The phone was this demo, and is gone.)`,
    );
  return ends.every(({ state }) => state === 'succeeded') ? 0 : 1;
}

/** Ends the daemon and what else runs, and takes its directory away. */
async function clear(held: Held): Promise<void> {
  held.over = true;
  const ends = Array.from(held.running, (child) => once(child, 'exit'));
  for (const child of held.running) child.kill('SIGTERM');
  await Promise.all(ends);
  for (const each of [held.folder, held.runsDir]) rmSync(each, { recursive: true, force: true, maxRetries: 3 });
}

/** Of the daemon that is kept: this program may end while it runs. */
function letGo(child: ChildProcess): void {
  child.stdout?.destroy();
  child.unref();
}

async function main(keep: boolean, story: boolean): Promise<number> {
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<null>();
  // From the first signal on they do nothing more, so that it ends in good order.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt(null));
  if (keep && story) {
    // Here alone: it needs much of the program in this process.
    const { showStory } = await import('./demo-story.ts');
    await showStory(interrupted);
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-'));
  const held: Held = { folder, dataDir: join(folder, 'data'), runsDir: ownRunsDir(folder), running: new Set() };
  mkdirSync(held.dataDir, { mode: 0o700 });
  let end: number | null = 1;
  try {
    end = await Promise.race([interrupted, perform(held, keep)]);
  } finally {
    held.phone?.close();
    if (!keep || end === null) await clear(held);
    else for (const child of held.running) letGo(child);
  }
  if (end !== null) return end;
  say('\nInterrupted: the daemon has ended, and its directory is gone.');
  // What the demo still waits for does not come any more.
  process.exit(EXIT_INTERRUPTED);
}

process.exitCode = await main(process.argv.includes('--keep'), process.argv.includes('--story'));
