/** An ansible-playbook without hosts: it reports tasks and results by chance, as the real one with its plugin. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Stream } from '../world/chance.ts';
import { FILES, isOfCommit, theRemotes } from './git/remotes.ts';
import type { Program, Started, Steps } from './program.ts';

const TASKS = ['copy', 'restart'];
const HOSTS = ['localhost'];
/** Of a task on a host, at most. */
const TASK_MS = 800;
const HANG_MS = 200_000;
const CHANCES = { failed: 0.1, unreachable: 0.05, hang: 0.03, torn: 0.02 };
/** As ansible-playbook ends. */
const EXIT_CODES: Readonly<Record<string, number>> = { failed: 2, unreachable: 4 };

type Counts = Record<'ok' | 'changed' | 'failures' | 'unreachable' | 'skipped' | 'rescued' | 'ignored', number>;

export const ANSIBLE: Program = {
  isDeaf: false,
  *run(started) {
    try {
      return yield* play(started);
    } catch {
      // The directory of the run is gone.
      return 1;
    }
  },
};

function* play({ chance, print, report, process }: Started): Steps {
  // It has to be there, as a playbook of the copied files.
  const playbook = process.argv.at(-1) ?? '';
  if (isOfCommit(readFileSync(playbook, 'utf8')))
    theRemotes().ran(
      process,
      FILES.map((name) => textIn(dirname(playbook), name)),
    );
  const tell = (event: object): void => report(`${JSON.stringify(event)}\n`);
  const counts: Counts = { ok: 0, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
  let exitCode = 0;
  yield chance.whole(1, TASK_MS);
  tell({ event: 'play', name: 'all' });
  HOSTS.forEach((name, host) => tell({ event: 'host', host, name }));
  for (const [task, name] of TASKS.entries()) {
    tell({ event: 'task', task, name });
    yield chance.chance(CHANCES.hang) ? chance.whole(1, HANG_MS) : chance.whole(1, TASK_MS);
    const status = statusOf(chance);
    print(`${status}: [${HOSTS.join()}] => ${name}\n`);
    tell({ event: 'result', host: 0, task, status });
    counts[status === 'failed' ? 'failures' : status] += 1;
    exitCode = EXIT_CODES[status] ?? 0;
    if (exitCode !== 0) break;
  }
  // As one that was ended by the kernel: without a report of its end.
  if (chance.chance(CHANCES.torn)) return 250;
  HOSTS.forEach((host) => tell({ event: 'total', host, ...counts }));
  tell({ event: 'end', plays_left: 0, hosts_left: 0 });
  return exitCode;
}

function textIn(folder: string, name: string): string | null {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

function statusOf(chance: Stream): 'ok' | 'changed' | 'failed' | 'unreachable' {
  if (chance.chance(CHANCES.failed)) return 'failed';
  if (chance.chance(CHANCES.unreachable)) return 'unreachable';
  return chance.pick(['ok', 'changed'] as const);
}
