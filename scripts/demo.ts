/**
 * Shows the main paths in one command, with a real daemon on a temporary directory. First a command is queued through
 * the HTTP API and followed to its end. Then an alert arrives, a rule holds its job until a person approves it, a phone
 * gets the notification and approves by its link, and the job runs. With terraform or tofu, a plan is approved as well.
 * Where the machine cannot sandbox jobs, the commands are privileged and there is no plan (demo-sandbox.ts). `--keep`
 * leaves the daemon running; it removes its directory when it ends. With `--keep --story` see demo-story.ts.
 */
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readArguments, refuseArgument } from './arguments.ts';
import { agree, expect } from './demo-agree.ts';
import { clear, lastLines } from './demo-clear.ts';
import { makeFolders } from './demo-folders.ts';
import { openPhone } from './demo-phone.ts';
import { findsSandbox } from './demo-sandbox.ts';
import { api, type Demo, follow, type Held, read, say, startDaemon, svc } from './demo-service.ts';
import { DemoError, sentenceOf, within } from './demo-wait.ts';
import { changeInfrastructure, findTool } from './demo-workspace.ts';
import { whenNpmEnds } from './npm-end.ts';
import { temporaryFolder } from './tests/open-folder.ts';

const USAGE = 'npm run demo [-- --keep [--story]]';
/** As shells have it for SIGINT. */
const EXIT_INTERRUPTED = 130;
/** Of a listener on loopback. */
const LISTEN_LIMIT_MS = 10_000;
/** A daemon that dies breaks its connections first: its end is the better reason, where it comes within this. */
const DEATH_LIMIT_MS = 2_000;
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
/** The last field of the action. */
const PRIVILEGED_RULE = `${RULE}  privileged: true
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

async function runCommand(demo: Demo): Promise<void> {
  const how = demo.isSandboxed ? 'POST /api/v1/commands/run' : 'svc command run --privileged';
  say(`3. Queueing a command (${how}) ...`);
  const { job_id: jobId } = await queueCommand(demo);
  say(`4. Following ${jobId} (GET /api/v1/jobs/${jobId}/stream) ...`);
  const end = await follow(demo, jobId);
  say(`5. The job ${end.state}, exit code ${end.exit_code}.`);
}

/** The API has no field for privileged jobs: they are queued on the machine itself. */
function queueCommand(demo: Demo): Promise<{ job_id: string }> {
  if (demo.isSandboxed) return api(demo, '/commands/run', { inventory: 'localhost', command: COMMAND });
  return svc(demo.held, 'command', 'run', '--inventory', 'localhost', '--privileged', '--', ...COMMAND);
}

/** From an alert to a job that waits; answers the ids of both. */
async function raiseAlert(demo: Demo): Promise<{ jobId: string; approvalId: string }> {
  say('\n6. Creating a webhook, and a rule whose job waits for approval (svc webhook add, svc rule add) ...');
  const hook = await svc<{ url: string }>(demo.held, 'webhook', 'add', 'alerts', '--source', 'alertmanager');
  const file = join(demo.held.folders.own, 'disk-full.yaml');
  writeFileSync(file, demo.isSandboxed ? RULE : PRIVILEGED_RULE);
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

async function reactToAlert(demo: Demo): Promise<void> {
  const { jobId, approvalId } = await raiseAlert(demo);
  await agree(demo, approvalId, await demo.phone.next(approvalId), 8);
  say(`11. Following ${jobId} ...`);
  const end = await follow(demo, jobId);
  const { title } = await demo.phone.next(`the decision on ${approvalId}`);
  say(`12. The job ${end.state}, exit code ${end.exit_code}. The phone shows how it was decided: "${title}".`);
  say('\nAn alert came in, its job waited for a person, the person agreed on a phone, and then it ran.');
}

async function perform(held: Held, keep: boolean): Promise<number> {
  say(`1. Starting the daemon on ${held.folders.data} ...`);
  const phone = (held.phone = await within(openPhone(), LISTEN_LIMIT_MS, 'the port of the phone'));
  const tool = findTool(held.folders);
  const { ready, ended } = await startDaemon(held, phone, tool.path);
  try {
    return await Promise.race([ended, tell({ held, phone, ready }, tool.name, keep)]);
  } catch (error) {
    await Promise.race([ended, sleep(DEATH_LIMIT_MS)]);
    throw error;
  }
}

async function tell(
  parts: Pick<Demo, 'held' | 'phone' | 'ready'>,
  tool: string | null,
  keep: boolean,
): Promise<number> {
  const { held, ready } = parts;
  say(`   ready on ${ready.web_url}`);
  say('2. Creating an operator token (svc token create) ...');
  const { token } = await svc<{ token: string }>(held, 'token', 'create', '--name', 'demo', '--scope', 'operator');
  const isSandboxed = await findsSandbox({ ready, token });
  const demo: Demo = { ...parts, token, isSandboxed };
  await runCommand(demo);
  await reactToAlert(demo);
  if (!isSandboxed) say('\nLeft out: a plan and its approved apply. They run in the sandbox only.');
  else if (tool === null)
    say('\nLeft out: a plan and its approved apply. They need terraform or tofu on the PATH, and neither is there.');
  else await changeInfrastructure(demo, tool);
  if (keep)
    say(
      `\nStill running: ${ready.web_url} (sign in with the token)\n` +
        `For svc and curl, in another terminal:\n  export SVC_REMOTE=${ready.web_url}\n  export SVC_TOKEN=${token}\n` +
        `Stop it; its data are removed then: kill ${ready.pid}\n(The phone was this demo, and is gone.)`,
    );
  return 0;
}

/** Of the daemon that is kept: this program may end while it runs (demo-daemon). */
function letGo(child: ChildProcess): void {
  child.stdin?.end('keep\n');
  child.stdout?.destroy();
  child.unref();
}

/** One sentence for the person who started the demo, and what the daemon wrote last. */
function report(error: unknown, log: readonly string[]): void {
  const lines = log.length === 0 ? [] : ['The last lines of the log of the daemon:', ...log.map((line) => `  ${line}`)];
  process.stderr.write([`\nThe demo ended early: ${sentenceOf(error)}.`, ...lines, ''].join('\n'));
}

async function main(keep: boolean, story: boolean): Promise<number> {
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<null>();
  // From the first signal on they do nothing more, so that it ends in good order.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt(null));
  whenNpmEnds(() => interrupt(null));
  // Its reader has gone (a pager, `head`), or its disk is full: no one sees the rest.
  process.stdout.on('error', () => interrupt(null));
  if (story) {
    temporaryFolder();
    // Here alone: it needs much of the program in this process.
    const { showStory } = await import('./demo-story.ts');
    await showStory(interrupted);
    return 0;
  }
  if (process.platform !== 'linux')
    throw new DemoError('jobs run on Linux only. "npm run demo -- --keep --story" shows the console on made-up data');
  const held: Held = { folders: makeFolders(), running: new Set() };
  let end: number | null = 1;
  try {
    end = await Promise.race([interrupted, perform(held, keep)]);
  } catch (error) {
    report(error, lastLines(held.folders.log));
  }
  held.phone?.close();
  if (keep && end === 0) for (const child of held.running) letGo(child);
  else await clear(held);
  if (end !== null) return end;
  say('\nInterrupted: the daemon has ended, and its directory is gone.');
  return EXIT_INTERRUPTED;
}

const flag = { type: 'boolean', default: false } as const;
const { keep, story } = readArguments(USAGE, { keep: flag, story: flag }).values;
if (story && !keep) refuseArgument("Option '--story' is for '--keep': the console stays.", USAGE);
let code = 1;
try {
  code = await main(keep, story);
} catch (error) {
  report(error, []);
}
// After an error other waits of the story would keep the process.
if (code !== 0) process.exit(code);
