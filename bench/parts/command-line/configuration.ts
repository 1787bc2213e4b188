import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runMs } from '../../floors/programs.ts';
import type { Bench } from '../../kit/bench.ts';
import { SVC } from '../../kit/program.ts';
import { removeDir, tempDir } from '../../kit/scratch.ts';
import { inTurn } from '../../kit/statistics.ts';

const AT_MOST_MS = 2_000;

/** The size that the goal is about. */
function configuration(interval: string): string {
  return JSON.stringify({
    set: 'bench',
    netgroups: list(100, (n) => ({ name: `n${n}`, prefixes: [`10.${n}.0.0/16`] })),
    checks: list(1_000, (n) => ({
      name: `c${n}`,
      ...(n % 2 === 0
        ? { kind: 'tcp', targets: ['a=192.0.2.1:22'] }
        : { kind: 'http', targets: ['a=https://h.example/'] }),
      interval,
    })),
    rules: list(200, (n) => ({
      name: `r${n}`,
      when: `event.source == "check" && event.status == "firing" && event.labels.check == "c${n}"`,
      cooldown: interval,
      action: { command: ['df', '-h', '${path(event.labels.mountpoint)}'], inventory: 'localhost' },
    })),
  }).replaceAll(',{', ',\n{');
}

function list(count: number, entry: (n: number) => object): object[] {
  return Array.from({ length: count }, (_, n) => entry(n));
}

function svc(verb: string, file: string, dir: string): Promise<number> {
  return runMs(SVC, ['config', verb, '--file', file, '--data-dir', dir, '--output', 'json']);
}

/** `svc config apply` and `diff`, from the start of the command to its end. */
export async function config({ report, quick }: Bench): Promise<void> {
  const files = tempDir('config-files');
  const full = tempDir('config');
  const fileOf = (interval: string): string => {
    const file = join(files, interval);
    writeFileSync(file, configuration(interval));
    return file;
  };
  const [file, other] = [fileOf('1m'), fileOf('2m')];
  try {
    await svc('apply', file, full);
    const times = await inTurn(quick ? 3 : 7, {
      async add() {
        const dir = tempDir('config-new');
        try {
          await runMs(SVC, ['migrate', '--data-dir', dir]);
          return await svc('apply', file, dir);
        } finally {
          removeDir(dir);
        }
      },
      same: () => svc('diff', file, full),
      async change() {
        const changed = await svc('apply', other, full);
        await svc('apply', file, full);
        return changed;
      },
    });
    const names = {
      add: 'apply 1,000 new checks, 200 rules and 100 netgroups',
      same: 'diff them, unchanged',
      change: 'apply them with each check and rule changed',
    };
    for (const [name, value] of Object.entries(times))
      report.add({ name: names[name as keyof typeof names], value, unit: 'ms', goal: { atMost: AT_MOST_MS } });
  } finally {
    removeDir(files);
    removeDir(full);
  }
}
