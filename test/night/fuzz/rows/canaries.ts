/** Files, folders and a process beside the run directories, which nothing that a row says may touch. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Canary } from './values.ts';

export interface Canaries extends Canary {
  /** Throws where one has changed. */
  check(): void;
  end(): void;
}

/** In the folder `dir`, beside the data directory and the run directories. */
export function placeCanaries(dir: string): Canaries {
  const path = join(dir, 'canary');
  mkdirSync(join(path, 'folder', 'empty'), { recursive: true });
  writeFileSync(join(path, 'file'), 'canary', { mode: 0o640 });
  writeFileSync(join(path, 'folder', 'file'), 'canary', { mode: 0o600 });
  const child = spawn('sleep', ['infinity'], { stdio: 'ignore', cwd: '/' });
  child.unref();
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  const look = (): string[] => [...names(dir), ...listed(path)];
  const before = look();
  return {
    path,
    pid: child.pid ?? assert.fail('sleep cannot be started'),
    check() {
      assert.deepEqual(look(), before, 'files outside the run directory have changed');
      assert.deepEqual([child.exitCode, child.signalCode], [null, null], 'a process outside was ended');
      assert.match(readFileSync(`/proc/${child.pid}/stat`, 'latin1'), /\) S /, 'a process outside was stopped');
    },
    end() {
      process.removeListener('exit', end);
      end();
    },
  };
}

function names(dir: string): string[] {
  return readdirSync(dir).toSorted();
}

/** Each entry with its kind, mode, owner, times and content. */
function listed(path: string): string[] {
  const { mode, uid, gid, mtimeMs, nlink } = lstatSync(path);
  const isFolder = (mode & 0o170_000) === 0o040_000;
  const own = `${path} ${mode.toString(8)} ${uid}:${gid} ${mtimeMs} ${nlink}`;
  if (!isFolder) return [`${own} ${readFileSync(path, 'latin1')}`];
  return [own, ...names(path).flatMap((name) => listed(join(path, name)))];
}
