/**
 * `npm run bench -- [PART ...] [--quick] [--save]`: measures the program, as a package carries it, against floors of
 * the same run and prints each figure with its floor, their ratio, the goal and whether it was met; it asserts nothing.
 * With no part named all of them run, in this order, in 17 minutes, or 50 where a start takes long (`--quick`: 7);
 * `--save` writes bench/results.md after each part, and keeps there what it did not run. `--help` names the parts.
 *
 * A part is one file in parts/, a floor one in floors/; children/ are programs that a part starts, load.ts is the
 * generator of load, kit/ is what parts share. Processes and directories are ended and removed however the bench ends.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readArguments, refuseArgument } from '../scripts/arguments.ts';
import { BUNDLE, bundle } from '../scripts/bundle.ts';
import type { Part } from './kit/bench.ts';
import { removeFilled } from './kit/filled.ts';
import { QUIET_KEYS, thisMachine } from './kit/machine.ts';
import { HOW_TO_READ, Report } from './kit/report.ts';
import { resultsFile, sectionsOf } from './kit/results.ts';
import { clearScratch, clearScratchNow } from './kit/scratch.ts';
import { monotonicMs } from './kit/time.ts';
import { mcp } from './parts/agents/mcp.ts';
import { backup } from './parts/backups/backup.ts';
import { bombs } from './parts/bounds/bombs.ts';
import { checkout } from './parts/checkout.ts';
import { checks } from './parts/checks/checks.ts';
import { classify } from './parts/checks/classify.ts';
import { probes } from './parts/checks/probes.ts';
import { status } from './parts/checks/status.ts';
import { claims } from './parts/claims.ts';
import { config } from './parts/command-line/configuration.ts';
import { consolePages } from './parts/console.ts';
import { enqueue } from './parts/enqueue.ts';
import { flood } from './parts/bounds/flood.ts';
import { turns } from './parts/bounds/turns.ts';
import { idle } from './parts/idle.ts';
import { infrastructure } from './parts/infrastructure.ts';
import { flat } from './parts/jobs/flat.ts';
import { latency } from './parts/latency.ts';
import { list } from './parts/list.ts';
import { output } from './parts/output.ts';
import { pages } from './parts/notifications.ts';
import { playbook } from './parts/playbooks/runs.ts';
import { postgres } from './parts/postgres.ts';
import { reaction } from './parts/reaction/reaction.ts';
import { crash } from './parts/maintenance/crash.ts';
import { restart } from './parts/maintenance/restart.ts';
import { retention } from './parts/maintenance/retention.ts';
import { sandbox } from './parts/sandbox.ts';
import { ssh } from './parts/ssh.ts';
import { start } from './parts/start.ts';
import { startup } from './parts/command-line/startup.ts';
import { stream } from './parts/stream.ts';
import { throughput } from './parts/throughput.ts';
import { workflows } from './parts/workflows/steps.ts';

const PARTS: Readonly<Record<string, Part>> = {
  enqueue,
  latency,
  sandbox,
  start,
  throughput,
  workflows,
  claims,
  flat,
  list,
  mcp,
  backup,
  startup,
  config,
  restart,
  crash,
  retention,
  output,
  stream,
  flood,
  bombs,
  turns,
  idle,
  infrastructure,
  reaction,
  checks,
  classify,
  probes,
  status,
  pages,
  console: consolePages,
  checkout,
  ssh,
  playbook,
  postgres,
};

/** Names for several parts: `peers` are those that measure other programs beside this one. */
const GROUPS: Readonly<Record<string, readonly (keyof typeof PARTS)[]>> = {
  peers: ['enqueue', 'start', 'throughput', 'reaction', 'checks', 'postgres'],
};
const USAGE =
  `npm run bench -- [PART ...] [--quick] [--save]\n` +
  `Parts: ${Object.keys(PARTS).join(', ')}; ${Object.keys(GROUPS).join(', ')}. Without one, all of them.`;

const RESULTS = join(import.meta.dirname, 'results.md');
const HOLD_MS = 60_000;

interface Arguments {
  readonly parts: readonly string[];
  readonly quick: boolean;
  readonly save: boolean;
}

function parse(): Arguments {
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = readArguments(USAGE, { quick: flag, save: flag }, true);
  const named = positionals.flatMap((name) => GROUPS[name] ?? name);
  const unknown = named.find((name) => PARTS[name] === undefined);
  if (unknown !== undefined) refuseArgument(`There is no part ${unknown}.`, USAGE);
  return { ...values, parts: named.length > 0 ? [...new Set(named)] : Object.keys(PARTS) };
}

async function main(args: Arguments): Promise<number> {
  const { parts, quick, save } = args;
  const report = new Report();
  const machine = await thisMachine();
  for (const key of QUIET_KEYS) process.stdout.write(`${key}: ${machine[key]}\n`);
  await bundle(BUNDLE);
  const before = monotonicMs();
  const earlier = sectionsOf(RESULTS);
  const done = new Set<string>();
  for (const name of parts) {
    report.begin(name);
    try {
      await PARTS[name]?.({ report, quick });
    } catch (error) {
      report.failed(`the part ${name}`, error);
      await clearScratch();
      removeFilled();
    }
    done.add(name);
    if (!save) continue;
    // After each part: a run that is ended before its time keeps what it measured.
    const newest = report.markdown(machine, ranAs(args, done.size, before));
    writeFileSync(RESULTS, resultsFile(HOW_TO_READ, newest, earlier, done));
  }
  const seconds = secondsSince(before);
  process.stdout.write(
    `\n${parts.length} parts in ${seconds} s: ${report.misses} goals missed, ${report.failures} not measured.\n`,
  );
  return report.failures > 0 ? 1 : 0;
}

function secondsSince(before: number): string {
  return ((monotonicMs() - before) / 1000).toFixed(0);
}

/** The command, and how far it has come. */
function ranAs({ parts, quick }: Arguments, done: number, before: number): string {
  const named = parts.length < Object.keys(PARTS).length ? parts : [];
  const words = [...named, ...(quick ? ['--quick'] : []), '--save'];
  const part = done < parts.length ? `, ${done} of ${parts.length} parts` : '';
  return `\`npm run bench -- ${words.join(' ')}\`, ${secondsSince(before)} s${part}`;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.once('exit', clearScratchNow);
// What waits for a job holds no process open; the bench waits for it all the same.
const hold = setInterval(() => undefined, HOLD_MS);
try {
  process.exitCode = await main(parse());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await clearScratch();
  clearInterval(hold);
}
