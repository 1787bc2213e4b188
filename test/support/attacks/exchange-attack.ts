/**
 * Stands for a process that escaped from a job: it holds folders of the run open, and exchanges in each of them the
 * folder `x` with the link `l`, without a pause, while somebody else removes the run. What is missing it makes again.
 * Messages say what to attack. It prints `go` when it has begun and `done` at its end, one line each.
 */
import { closeSync, constants, mkdirSync, openSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { cString, openSystemCalls } from '../../../src/runners/sandbox/kernel/system-call.ts';

export interface Attack {
  /** Folders of the run. */
  readonly folders: readonly string[];
  /** Where the links lead. */
  readonly outside: string;
  readonly exchanges: number;
  /** How often what was removed is made again. */
  readonly remakes: number;
}

const RENAMEAT2: Readonly<Record<string, number>> = { x64: 316, arm64: 276 };
const RENAME_EXCHANGE = 2;
const ENOENT = 2;

const system = openSystemCalls();
const [folderName, linkName] = [cString('x'), cString('l')];

process.on('message', ({ folders, outside, exchanges, remakes }: Attack) => {
  const held = folders.map((path) => openSync(path, constants.O_DIRECTORY));
  writeSync(1, 'go\n');
  let left = remakes;
  let alive = true;
  for (let round = 0; round < exchanges && alive; round += 1) {
    alive = false;
    for (const fd of held) {
      const result = system.call(RENAMEAT2[process.arch] ?? 0, fd, folderName, fd, linkName, RENAME_EXCHANGE);
      if (result === -ENOENT && left-- > 0) remake(`/proc/self/fd/${fd}`, outside);
      alive ||= result !== -ENOENT || left > 0;
    }
  }
  for (const fd of held) closeSync(fd);
  writeSync(1, 'done\n');
});

/** Each part may be there already, or the folder itself may be removed. */
function remake(folder: string, outside: string): void {
  const steps = [
    () => mkdirSync(`${folder}/x`),
    () => writeFileSync(`${folder}/x/seal.key`, 'of the job'),
    () => symlinkSync(outside, `${folder}/l`),
  ];
  for (const step of steps) {
    try {
      step();
    } catch {}
  }
}

process.once('disconnect', () => process.exit(0));
