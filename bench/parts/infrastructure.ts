import { bareApplyFresh, bareApplySaved, barePlan, writeRoot } from '../floors/terraform.ts';
import type { Bench } from '../kit/bench.ts';
import { type Daemon, expectStatus, getData, startDaemon } from '../kit/daemon.ts';
import { openStream, readStream } from '../kit/event-stream.ts';
import { residentMiB } from '../kit/process-facts.ts';
import { tempDir } from '../kit/scratch.ts';
import { median, percentile } from '../kit/statistics.ts';
import { monotonicMs, sleep, until, wallMs } from '../kit/time.ts';

const SETTLE_MS = 150;
const SMALL = 10;
const LARGE = 5_000;
/** Makes 14 MB of JSON of 5,000 resources. */
const LARGE_INPUT_BYTES = 1_250;
const SLOW_SECONDS = 3;

interface Queued {
  readonly job_id: string;
  readonly approval_id?: string;
  readonly state: string;
}

/** Sends a run and waits for its end: what a client sees. */
async function run(
  daemon: Daemon,
  verb: string,
  workspace: string,
  body: object = {},
): Promise<{ ms: number; id: string }> {
  const before = monotonicMs();
  const response = await daemon.ask('POST', `/workspaces/${workspace}/${verb}`, body);
  expectStatus(response, 202);
  const { job_id: id } = (JSON.parse(response.body.toString()) as { data: Queued }).data;
  await readStream(await openStream(daemon, id, daemon.headers), () => undefined);
  const ms = monotonicMs() - before;
  const { state } = await getData<{ state: string }>(daemon, `/jobs/${id}`);
  if (state !== 'succeeded') throw new Error(`${verb} of ${workspace} ended as ${state}`);
  await sleep(SETTLE_MS);
  return { ms, id };
}

async function artifactOf(daemon: Daemon, jobId: string): Promise<string> {
  return (await getData<{ plan_artifact_id: string }>(daemon, `/jobs/${jobId}`)).plan_artifact_id;
}

/** Plans and applies of the real terraform through the daemon, against the tool by itself. */
export async function infrastructure(bench: Bench): Promise<void> {
  const daemon = await startDaemon();
  try {
    await smallRuns(bench, daemon);
    await slowRun(bench, daemon);
    await decisions(bench, daemon);
    await largePlan(bench, daemon);
  } finally {
    await daemon.stop();
  }
}

async function smallRuns({ report, quick }: Bench, daemon: Daemon): Promise<void> {
  const [ours, bare] = [tempDir('ours'), tempDir('bare')];
  await daemon.svc(['workspace', 'add', 'small', '--dir', ours]);
  const times = { plan: [] as number[], barePlan: [] as number[], apply: [] as number[], bareApply: [] as number[] };
  const again = { plan: [] as number[], barePlan: [] as number[] };
  for (let round = 0; round < (quick ? 6 : 20); round += 1) {
    for (const dir of [ours, bare]) writeRoot(dir, SMALL, `"round ${round} \${count.index}"`);
    const planned = await run(daemon, 'plan', 'small');
    const applied = await run(daemon, 'apply', 'small', { plan: await artifactOf(daemon, planned.id) });
    times.plan.push(planned.ms);
    times.apply.push(applied.ms);
    times.barePlan.push(await barePlan(bare));
    times.bareApply.push(await bareApplySaved(bare));
    // The files are those of the plan before, so its init still holds.
    again.plan.push((await run(daemon, 'plan', 'small')).ms);
    again.barePlan.push(await barePlan(bare));
  }
  report.add({
    name: `a plan and its saved apply together, ${SMALL} resources: p50`,
    value: median(times.plan) + median(times.apply),
    unit: 'ms',
    floor: { name: 'the same tools, bare', value: median(times.barePlan) + median(times.bareApply) },
    goal: { ratioAtMost: 1.15 },
  });
  const figure = (
    name: string,
    samples: readonly number[],
    floorName: string,
    floor: readonly number[],
    above: number,
  ) =>
    report.add({
      name: `${name}, ${SMALL} resources: p50`,
      value: median(samples),
      unit: 'ms',
      floor: { name: floorName, value: median(floor) },
      goal: { aboveFloorAtMost: above },
    });
  figure('a plan run, request to end', times.plan, 'bare init, plan -out, show -json', times.barePlan, 40);
  figure('a plan run of the same files', again.plan, 'bare init, plan -out, show -json', again.barePlan, 0);
  figure('a saved apply, request to end', times.apply, 'bare apply of a plan', times.bareApply, 60);
}

async function slowRun({ report }: Bench, daemon: Daemon): Promise<void> {
  const [ours, bare] = [tempDir('ours'), tempDir('bare')];
  const wait = `  provisioner "local-exec" {\n    command = "sleep ${SLOW_SECONDS}"\n  }\n`;
  for (const dir of [ours, bare]) writeRoot(dir, 1, '"x"', wait);
  await daemon.svc(['workspace', 'add', 'slow', '--dir', ours]);
  const { ms } = await run(daemon, 'apply', 'slow');
  const floor = { name: 'bare init and apply', value: await bareApplyFresh(bare) };
  report.add({
    name: `a fresh apply that takes ${SLOW_SECONDS} s`,
    value: ms,
    unit: 'ms',
    floor,
    goal: { ratioAtMost: 1.05 },
  });
}

/** Makes a plan that waits for approval; answers the approval. */
async function ask(daemon: Daemon, workspace: string): Promise<Queued> {
  const planned = await run(daemon, 'plan', workspace);
  const response = await daemon.ask('POST', `/workspaces/${workspace}/apply`, {
    plan: await artifactOf(daemon, planned.id),
  });
  expectStatus(response, 202);
  return (JSON.parse(response.body.toString()) as { data: Queued }).data;
}

async function decisions({ report, quick }: Bench, daemon: Daemon): Promise<void> {
  const dir = tempDir('gated');
  await daemon.svc(['workspace', 'add', 'gated', '--dir', dir, '--approve-when', 'true']);
  const approver = await daemon.headersFor('approver', 'approve');
  const answered: number[] = [];
  const started: number[] = [];
  for (let round = 0; round < (quick ? 6 : 20); round += 1) {
    writeRoot(dir, 1, `"round ${round}"`);
    const { approval_id: id, job_id: jobId } = await ask(daemon, 'gated');
    const sent = { mono: monotonicMs(), wall: wallMs() };
    const response = await daemon.ask('POST', `/approvals/${String(id)}/decision`, { decision: 'approve' }, approver);
    answered.push(monotonicMs() - sent.mono);
    expectStatus(response, 200);
    const job = async () => getData<{ state: string; started_at: string | null }>(daemon, `/jobs/${jobId}`);
    await until('the apply has ended', 30_000, 20, async () => (await job()).state === 'succeeded');
    started.push(Date.parse((await job()).started_at ?? '') - sent.wall);
  }
  report.add({
    name: 'a decision, request to answer: p50',
    value: percentile(answered, 0.5),
    unit: 'ms',
    goal: { atMost: 5 },
    note: 'a new connection each time',
  });
  report.add({
    name: 'a decision, request to the apply running: p50',
    value: percentile(started, 0.5),
    unit: 'ms',
    goal: { atMost: 30 },
  });
}

async function largePlan({ report }: Bench, daemon: Daemon): Promise<void> {
  const [ours, bare] = [tempDir('ours'), tempDir('bare')];
  const input = `"\${count.index} ${'x'.repeat(LARGE_INPUT_BYTES)}"`;
  for (const dir of [ours, bare]) writeRoot(dir, LARGE, input);
  await daemon.svc(['workspace', 'add', 'large', '--dir', ours, '--approve-when', 'true']);
  const restMiB = residentMiB(daemon.pid);
  let peakMiB = restMiB;
  const watch = setInterval(() => (peakMiB = Math.max(peakMiB, residentMiB(daemon.pid))), 20);
  const asked = monotonicMs();
  const { id } = await run(daemon, 'plan', 'large');
  const oursMs = monotonicMs() - asked - SETTLE_MS;
  clearInterval(watch);
  const floor = { name: 'bare init, plan -out, show -json', value: await barePlan(bare) };
  report.add({
    name: `a plan of ${LARGE} resources`,
    value: oursMs,
    unit: 'ms',
    floor,
    goal: { aboveFloorAtMost: 2_000 },
  });
  report.add({
    name: 'memory of the daemon above before it: peak',
    value: peakMiB - restMiB,
    unit: 'MiB',
    goal: { atMost: 150 },
  });
  const response = await daemon.ask('POST', '/workspaces/large/apply', { plan: await artifactOf(daemon, id) });
  expectStatus(response, 202);
  const { approval_id: approval } = (JSON.parse(response.body.toString()) as { data: Queued }).data;
  const views: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    const before = monotonicMs();
    expectStatus(await daemon.ask('GET', `/approvals/${String(approval)}/plan`), 200);
    views.push(monotonicMs() - before);
  }
  report.add({ name: 'its view: p50', value: median(views), unit: 'ms', goal: { atMost: 100 } });
}
