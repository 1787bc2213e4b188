/** Runs of the real ansible-playbook outside the service, with the report that the service reads. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { REPORT_FD } from '../../../src/runners/launch/steps.ts';

const PLUGINS = join(import.meta.dirname, '..', '..', '..', 'src', 'runners', 'ansible');

/** Writes the files of a tree; the keys are paths below `dir`. */
export function writeTree(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
}

interface BareRun {
  readonly exitCode: number | null;
  readonly report: string[];
  readonly output: string;
}

/** Runs a playbook of `dir` there, with nothing of the service but the callback plugin. */
export async function runBare(dir: string, args: readonly string[]): Promise<BareRun> {
  // Files, because ansible refuses the pipes of Node, which do not block.
  const [output, report] = [join(dir, 'output.txt'), join(dir, 'report.txt')];
  const config = join(dir, 'bare.cfg');
  writeFileSync(config, '');
  const [outputFd, reportFd] = [openSync(output, 'w'), openSync(report, 'w')];
  const unused = Array.from({ length: REPORT_FD - 3 }, () => 'ignore' as const);
  const child = spawn('ansible-playbook', args, {
    cwd: dir,
    stdio: ['ignore', outputFd, outputFd, ...unused, reportFd],
    env: {
      PATH: process.env['PATH'],
      HOME: dir,
      LANG: 'C.UTF-8',
      ANSIBLE_CONFIG: config,
      ANSIBLE_CALLBACK_PLUGINS: PLUGINS,
      ANSIBLE_CALLBACKS_ENABLED: 'gatehouse_report',
      ANSIBLE_HOME: join(dir, '.ansible'),
      SVC_REPORT_FD: String(REPORT_FD),
    },
  });
  closeSync(outputFd);
  closeSync(reportFd);
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines = readFileSync(report, 'utf8').split('\n');
  return { exitCode, report: lines.filter((line) => line !== ''), output: readFileSync(output, 'utf8') };
}
