/** A week of a small site, for pictures of the console and for its tests: jobs, alerts, checks, approvals. */
import type { JobState } from '../../../src/domain/jobs/job.ts';
import type { NormalEvent } from '../../../src/domain/events/event.ts';
import { receive } from '../../../src/reaction/receive.ts';
import type { Outcome } from '../../../src/reaction/types.ts';
import { gather, type Gathered } from '../../../src/domain/checks/sweep/day.ts';
import type { HostResult } from '../../../src/domain/playbooks/results.ts';
import { newId } from '../../../src/lib/id.ts';
import { addHistory } from '../../../src/store/checks/history.ts';
import { insertJob, type NewJob } from '../../../src/store/jobs/jobs.ts';
import { encodeResults, insertResults } from '../../../src/store/playbooks/results.ts';
import type { HandClock } from '../clock.ts';
import { gate } from '../fixtures/approvals.ts';
import { alert, WEBHOOK } from '../fixtures/reaction.ts';
import type { Program } from '../program.ts';
import { onMachine } from './story.ts';

const HOUR_MS = 3_600_000;
/** How long web2 does not answer at the end of the week. */
const DOWN_HOURS = 5;
/** How long the approvals wait at the end of the week. */
const OPEN_MS = 12 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 7;

/** What the pages with parameters are about. */
export interface Week {
  readonly playbook: string;
  readonly failed: string;
  readonly approval: string;
  readonly event: string;
  readonly run: string;
}

const WORKFLOW = `steps:
  - name: drain
    command: [/usr/local/bin/drain, web]
    inventory: localhost
  - name: patch-left
    needs: [drain]
    command: [/usr/local/bin/patch, left]
    inventory: localhost
  - name: patch-right
    needs: [drain]
    command: [/usr/local/bin/patch, right]
    inventory: localhost
  - name: smoke-test
    needs: [patch-left, patch-right]
    command: [/usr/local/bin/smoke]
    inventory: localhost
`;

const RULE = `name: disk-full
when: >-
  event.source == "alertmanager" && event.status == "firing" &&
  event.name == "DiskFull"
cooldown: 30m
action:
  command: [/usr/local/bin/clean-up, "\${path(event.labels.mountpoint)}"]
  inventory: localhost
`;

/**
 * Lets the week pass on the clock of the program; the last day is the present one. It ends exactly a week after its
 * begin, and nothing of it is later.
 */
export async function tellWeek(program: Program, clock: HandClock): Promise<Week> {
  const end = clock.now() + DAYS * DAY_MS;
  await addThings(program, clock);
  let [playbook, failed, event] = ['', '', ''];
  for (let day = 0; day < DAYS; day += 1) {
    const isLast = day === DAYS - 1;
    playbook = await runPlaybook(program, clock, isLast ? 'failed' : 'succeeded');
    await runJob(program, clock, { runbook: 'drift:net', by: 'schedule nightly-drift', lines: DRIFT, tookMs: 18_000 });
    clock.advance(5 * HOUR_MS);
    event = await tellAlerts(program, clock);
    if (day % 3 === 0)
      failed = await runJob(program, clock, {
        runbook: 'backup:store',
        by: 'schedule nightly-backup',
        lines: LOST,
        state: 'failed',
      });
    clock.advance(isLast ? end - OPEN_MS - clock.now() : 19 * HOUR_MS);
  }
  await addSchedules(program);
  const keyring = await program.services.keyring();
  const { approval } = await gate(program.store, { requestedBy: 'ana', owners: ['ana'] }, keyring);
  await gate(program.store, { workspace: 'shop', requestedBy: 'ben', owners: ['ben'] }, keyring);
  const { run_id: run } = await onMachine<{ run_id: string }>(program, 'workflow.run', { name: 'patch-web' });
  clock.advance(OPEN_MS);
  return { playbook, failed, approval: approval.id, event, run };
}

async function addThings(program: Program, clock: HandClock): Promise<void> {
  await onMachine(program, 'workflow.add', { name: 'patch-web', text: WORKFLOW });
  await onMachine(program, 'rule.add', { text: RULE });
  for (const [name, kind, targets] of [
    ['shop', 'http', ['eu=https://shop.example.net/', 'us=https://us.shop.example.net/']],
    ['ssh', 'tcp', ['web1=192.0.2.11:22', 'web2=192.0.2.12:22', 'db1=192.0.2.21:22']],
  ] as const) {
    await onMachine(program, 'check.add', { name, kind, interval: '30s', targets });
    for (const target of targets) await observe(program, clock, name, target.split('=')[0] ?? '');
  }
  await program.store.write(async ({ db }) => {
    await db.updateTable('check_targets').set({ status: 'up', duration_ms: 23, last_change: clock.now() }).execute();
    const went = { status: 'down', last_change: clock.now() + DAYS * DAY_MS - DOWN_HOURS * HOUR_MS } as const;
    await db.updateTable('check_targets').set(went).where('name', '=', 'web2').execute();
  });
}

/** At the end of the week: their next runs are still to come. */
async function addSchedules(program: Program): Promise<void> {
  for (const [name, cron] of [
    ['patch', '0 3 * * 1-5'],
    ['rotate-logs', '30 4 * * *'],
    ['report', '0 8 * * 1'],
  ] as const)
    await onMachine(program, 'schedule.add', {
      name,
      cron,
      timezone: 'Europe/Berlin',
      inventory: 'localhost',
      words: ['/usr/local/bin/task', name],
    });
}

/** Four observations of each hour of 90 days before the end of the week; web2 is down since its last night. */
function observe({ store }: Program, clock: HandClock, check: string, target: string): Promise<void> {
  const end = clock.now() + DAYS * DAY_MS;
  const gathered: Gathered[] = [];
  for (let at = end - 90 * DAY_MS; at < end; at += HOUR_MS / 4) {
    const isDown = target === 'web2' && at > end - DOWN_HOURS * HOUR_MS;
    gather(gathered, { at, reading: isDown ? 'down' : 'up', isSnoozed: false, durationMs: 18 + ((at / 60_000) % 17) });
  }
  return store.write((tx) => addHistory(tx, check, target, gathered));
}

const DRIFT = ['Refreshing state…', 'No changes. The real infrastructure matches the configuration.'];
const CLEANED = ['/var is 91 % full', 'removed 214 old archives', '\u001b[32m/var is 63 % full\u001b[0m'];
const LOST = ['copying 1.2 GiB', '\u001b[31mno space left on the backup disk\u001b[0m'];

interface Order {
  readonly runbook: string;
  readonly by: string;
  readonly lines: readonly string[];
  readonly state?: Extract<JobState, 'succeeded' | 'failed'>;
  readonly kind?: NewJob['kind'];
  readonly tookMs?: number | undefined;
}

async function runJob(program: Program, clock: HandClock, order: Order): Promise<string> {
  const { runbook, by, lines, state = 'succeeded', kind = 'command', tookMs } = order;
  const id = newId('job', clock.now());
  const spec = { inventory: 'web', limit: null, command: ['true'], egressPorts: [] };
  await program.store.write((tx) =>
    insertJob(tx, {
      id,
      kind,
      state: 'queued',
      runbook,
      source: null,
      trigger: 'schedule',
      workspace: null,
      concurrencyKey: null,
      privileged: false,
      createdAt: tx.now,
      requestedBy: by,
      owners: ['ana'],
      redriveOf: null,
      spec: JSON.stringify(spec),
      timeoutMs: 600_000,
    }),
  );
  await runQueued(program, clock, id, { lines, state, tookMs });
  return id;
}

async function runQueued(
  program: Program,
  clock: HandClock,
  id: string,
  { lines, state = 'succeeded', tookMs = 47_000 }: Pick<Order, 'lines' | 'state' | 'tookMs'>,
): Promise<void> {
  clock.advance(400);
  await program.claim();
  await program.print(id, lines);
  clock.advance(tookMs);
  await program.finish(id, { state, exitCode: state === 'succeeded' ? 0 : 2 });
}

const TASKS = [
  'Gather facts',
  'Update the list of packages',
  'Upgrade',
  'Restart nginx',
  'Wait for port 443',
  'Report',
];

async function runPlaybook(program: Program, clock: HandClock, state: 'succeeded' | 'failed'): Promise<string> {
  const lines = TASKS.map((task) => `TASK [${task}] ${'*'.repeat(40)}`);
  const id = await runJob(program, clock, {
    runbook: 'playbook:patch.yml',
    by: 'schedule patch',
    lines,
    state,
    tookMs: 252_000,
  });
  const hosts = Array.from({ length: 12 }, (_, i): HostResult => {
    const isLost = state === 'failed' && i === 7;
    const cells = isLost ? 'ocf' : i % 3 === 0 ? 'occcoo' : 'ooooso';
    const count = (letter: string): number => cells.split(letter).length - 1;
    return {
      host: `web${String(i + 1).padStart(2, '0')}`,
      ok: count('o') + count('c'),
      changed: count('c'),
      failures: count('f'),
      unreachable: 0,
      skipped: count('s'),
      rescued: 0,
      ignored: 0,
      failure: isLost ? { task: 2, message: 'dpkg was interrupted; run dpkg --configure -a' } : null,
      cells,
    };
  });
  const stored = await encodeResults({
    recap: {
      ended: true,
      plays: 1,
      playsWithoutHosts: 0,
      playsLeft: 0,
      hostsLeft: 0,
      hosts: 12,
      good: 11,
      failed: 1,
      unreachable: 0,
    },
    hosts,
    tasks: TASKS.map((task) => ({ play: 'Patch', task })),
    hostsCut: 0,
    tasksCut: 0,
  });
  await program.store.write((tx) => insertResults(tx, id, stored));
  return id;
}

/** A rule acts on an alert, its cooldown holds the next one; others are only noted. Returns the event that was held. */
async function tellAlerts(program: Program, clock: HandClock): Promise<string> {
  const disk = { name: 'DiskFull', fingerprint: 'disk-web1', labels: { instance: 'web1:9100', mountpoint: '/var' } };
  const load = { name: 'HighLoad', fingerprint: 'load-db1', labels: { instance: 'db1:9100' } };
  const fired = await tell(program, disk);
  await runQueued(program, clock, fired.jobId ?? '', { lines: CLEANED, tookMs: 31_000 });
  await tell(program, { ...disk, status: 'resolved' });
  clock.advance(9 * 60_000);
  await tell(program, { ...load, severity: 'warning' });
  return (await tell(program, { ...disk, labels: { ...disk.labels, mountpoint: '/var/log' } })).event.id;
}

async function tell({ services }: Program, some: Partial<NormalEvent>): Promise<Outcome> {
  const [outcome] = await receive(services.reaction, [alert({ source: 'alertmanager', ...some })], WEBHOOK);
  if (outcome === undefined) throw new Error('an alert has no outcome');
  return outcome;
}
